/** Why a published source of a volume, or a part of one, is refused: a line goes when its source comes. */

export const REFUSED_OF_VOLUMES: Readonly<Record<string, string>> = {
  'volumes[].containerPath': 'needs a virtiofsd beside QEMU',
  'volumes[].downwardMetrics': 'metrics of the host are not shown to guests',
};
