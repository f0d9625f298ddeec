/** Rules for Prometheus: figures that follow from others, and what somebody should be told. Names are KubeVirt's where it has such a rule. */

type Rule = { readonly expr: string } & (
  | { readonly record: string }
  | {
      readonly alert: string;
      readonly for: string;
      readonly severity: 'critical' | 'warning';
      readonly summary: string;
    }
);

const RULES: readonly Rule[] = [
  { record: 'kubevirt_vmi_memory_used_bytes', expr: 'kubevirt_vmi_memory_available_bytes - kubevirt_vmi_memory_usable_bytes' },
  { record: 'kubevirt_vmi_phase_count', expr: 'sum by (node, phase, os, workload, flavor, instance_type, preference) (kubevirt_vmi_info)' },
  { record: 'kubevirt_virt_api_up', expr: up('virt-api') },
  { record: 'kubevirt_virt_controller_up', expr: up('virt-controller') },
  { record: 'kubevirt_virt_handler_up', expr: up('virt-handler') },
  { record: 'kubevirt_virt_operator_up', expr: up('virt-operator') },
  {
    alert: 'VirtAPIDown',
    expr: 'kubevirt_virt_api_up == 0',
    for: '10m',
    severity: 'critical',
    summary: 'No virt-api answers: machines cannot be made, started, stopped or entered.',
  },
  {
    alert: 'NoReadyVirtController',
    expr: 'sum(kubevirt_virt_controller_ready_status) == 0 or absent(kubevirt_virt_controller_ready_status)',
    for: '10m',
    severity: 'critical',
    summary: 'No virt-controller is ready: machines keep running, and nothing else happens.',
  },
  {
    alert: 'NoLeadingVirtController',
    expr: 'sum(kubevirt_virt_controller_leading_status) == 0',
    for: '10m',
    severity: 'critical',
    summary: 'No virt-controller works: none holds the Lease virt-controller.',
  },
  {
    alert: 'VirtHandlerDaemonSetRolloutFailing',
    expr: 'sum(kubevirt_virt_handler_ready_status) < count(kubevirt_virt_handler_ready_status)',
    for: '15m',
    severity: 'warning',
    summary: 'A virt-handler is not ready: machines of its node run on, and cannot be started, stopped or entered.',
  },
  {
    alert: 'VirtOperatorDown',
    expr: 'kubevirt_virt_operator_up == 0',
    for: '10m',
    severity: 'critical',
    summary: 'virt-operator does not answer: the installation is neither repaired nor upgraded, and certificates are not renewed.',
  },
  {
    alert: 'VirtualMachineStuckInUnhealthyState',
    expr: 'sum by (namespace, name, status) (kubevirt_vm_info{status_group="error"}) > 0',
    for: '10m',
    severity: 'warning',
    summary: 'Machine {{ $labels.namespace }}/{{ $labels.name }} is {{ $labels.status }}: virtctl why {{ $labels.name }} tells the reason.',
  },
  {
    alert: 'GuestMemoryNearlyUsedUp',
    expr: 'kubevirt_vmi_memory_usable_bytes / kubevirt_vmi_memory_available_bytes < 0.05',
    for: '15m',
    severity: 'warning',
    summary: 'The guest of {{ $labels.namespace }}/{{ $labels.name }} has less than a twentieth of its memory left.',
  },
];

/** One group, as a PrometheusRule has it. */
export const ALERT_GROUPS = [{ name: 'kubevirt.rules', rules: RULES.map(ruleFrom) }];

function up(component: string): string {
  return `sum(up{namespace="kubevirt", pod=~"${component}-.*"}) or vector(0)`;
}

function ruleFrom(rule: Rule): object {
  if ('record' in rule) return { record: rule.record, expr: rule.expr };
  const { alert, expr, for: duration, severity, summary } = rule;
  return {
    alert,
    expr,
    for: duration,
    labels: { severity, kubernetes_operator_part_of: 'kubevirt' },
    annotations: { summary },
  };
}
