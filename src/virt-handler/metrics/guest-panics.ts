/** How often guests have said that they panicked, by the name and labels that KubeVirt publishes. */
import { fromKey } from '../../api/meta.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { MetricCounter, type MetricFamily } from '../../base/metrics.ts';

export class GuestPanics {
  readonly #counter = new MetricCounter({
    name: 'kubevirt_vmi_guest_os_panic_total',
    help: 'Panics of guests, by what told of them and the code of a stop error of Windows.',
  });

  get family(): MetricFamily {
    return this.#counter;
  }

  /** What QEMU tells with the event GUEST_PANICKED. */
  observe(key: string, { info }: JsonObject): void {
    const { namespace = '', name } = fromKey(key);
    const { type, arg1: code } = isObject(info) ? info : {};
    const isHyperv = type === 'hyper-v';
    const isCode = isHyperv && typeof code === 'number' && Number.isSafeInteger(code) && code > 0;
    const bugcheckCode = isCode ? `0x${code.toString(16)}` : 'unknown';
    this.#counter.add({ namespace, name, type: isHyperv ? 'hyperv' : 'pvpanic', bugcheck_code: bugcheckCode });
  }
}
