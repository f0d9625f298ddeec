/** What is switched on and off of the processor model: the features of the spec, word by word, in QEMU's spelling. */
import type { Domain } from '../../api/kubevirt/vmi-spec-schema.ts';
import { CPU_FEATURE, HYPERV_VENDOR_ID } from './limits.ts';
import { matching, optionValue } from './option-text.ts';

type Features = NonNullable<Domain['features']>;
type Hyperv = NonNullable<Features['hyperv']>;
type Switch = { readonly enabled?: boolean } | undefined;

/** Hyper-V features that are on or off and nothing else. */
const HYPERV_WORDS = {
  relaxed: 'hv-relaxed',
  vapic: 'hv-vapic',
  vpindex: 'hv-vpindex',
  runtime: 'hv-runtime',
  synic: 'hv-synic',
  synictimer: 'hv-stimer',
  reset: 'hv-reset',
  frequencies: 'hv-frequencies',
  reenlightenment: 'hv-reenlightenment',
  tlbflush: 'hv-tlbflush',
  ipi: 'hv-ipi',
  evmcs: 'hv-evmcs',
} as const;
const SPINLOCK_RETRIES = 4096;

/** The words after the model in `-cpu`. */
export function cpuFlags(domain: Domain, accel: 'kvm' | 'tcg'): string[] {
  const { features = {}, clock } = domain;
  const { apic, kvm, pvspinlock } = features;
  return [
    ...(apic ? [word('apic', apic.enabled !== false)] : []),
    ...(kvm?.hidden ? ['kvm=off'] : []),
    ...(clock?.timer?.kvm?.present === false ? ['kvmclock=off'] : []),
    // Software emulation has neither; QEMU refuses some of the words there.
    ...(accel === 'kvm' && apic?.endOfInterrupt !== undefined ? [word('kvm-pv-eoi', apic.endOfInterrupt)] : []),
    ...(accel === 'kvm' && pvspinlock ? [word('kvm-pv-unhalt', isOn(pvspinlock))] : []),
    ...(accel === 'kvm' ? hypervFlags(domain) : []),
    ...namedFeatures(domain),
  ];
}

function hypervFlags({ features, clock }: Domain): string[] {
  const { hyperv = {}, hypervPassthrough } = features ?? {};
  const { spinlocks, vendorid, synictimer, tlbflush } = hyperv;
  const hypervClock = clock?.timer?.hyperv;
  return [
    ...(isOn(hypervPassthrough) ? ['hv-passthrough=on'] : []),
    ...(Object.keys(HYPERV_WORDS) as (keyof typeof HYPERV_WORDS)[])
      .filter((name) => isOn(withNeeded(hyperv)[name]))
      .map((name) => word(HYPERV_WORDS[name], true)),
    ...(isOn(synictimer) && isOn(synictimer?.direct) ? ['hv-stimer-direct=on'] : []),
    ...(isOn(tlbflush) && isOn(tlbflush?.direct) ? ['hv-tlbflush-direct=on'] : []),
    ...(isOn(tlbflush) && isOn(tlbflush?.extended) ? ['hv-tlbflush-ext=on'] : []),
    ...(isOn(spinlocks) ? [`hv-spinlocks=${spinlocks?.spinlocks ?? SPINLOCK_RETRIES}`] : []),
    ...(isOn(vendorid) && vendorid?.vendorid ? [`hv-vendor-id=${vendorId(vendorid.vendorid)}`] : []),
    ...(hypervClock && hypervClock.present !== false ? ['hv-time=on'] : []),
  ];
}

/** Features with those that they cannot do without: admission writes them into an instance; another way in must not fail. */
function withNeeded(hyperv: Hyperv): Hyperv {
  const on = { enabled: true };
  const needsSynic = isOn(hyperv.synictimer) || isOn(hyperv.synic);
  const needsIndex = needsSynic || isOn(hyperv.tlbflush) || isOn(hyperv.ipi);
  return {
    ...hyperv,
    ...(needsSynic && { synic: on }),
    ...(needsIndex && { vpindex: on }),
    ...(isOn(hyperv.evmcs) && { vapic: on }),
  };
}

/** `enforce` makes QEMU end when a feature that was asked for cannot be had, instead of starting without it. */
function namedFeatures({ cpu }: Domain): string[] {
  const features = cpu?.features ?? [];
  const words = features.map(({ name, policy }, index) => word(featureName(name, index), policy !== 'disable'));
  return features.some(({ policy }) => !policy || policy === 'require') ? [...words, 'enforce=on'] : words;
}

function featureName(name: string, index: number): string {
  const why = 'a feature is a name such as vmx';
  return matching(name, { field: `spec.domain.cpu.features[${index}].name`, pattern: CPU_FEATURE, why });
}

function vendorId(text: string): string {
  const field = 'spec.domain.features.hyperv.vendorid.vendorid';
  const why = 'it has at most 12 printable characters';
  return optionValue(matching(text, { field, pattern: HYPERV_VENDOR_ID, why }));
}

function isOn(feature: Switch): boolean {
  return feature !== undefined && feature.enabled !== false;
}

function word(name: string, isOn: boolean): string {
  return `${name}=${isOn ? 'on' : 'off'}`;
}
