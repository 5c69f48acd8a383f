/** Numbers for whoever runs the server; no name, no token, no id. */
export interface Metrics {
  count(name: CounterName, label?: string): void;
  render(gauges: Readonly<Record<string, number>>): string;
}

const COUNTERS = {
  http_requests: "Answers by status",
  mcp_requests: "Requests by era",
  refused: "Requests refused, by reason",
} as const;

export type CounterName = keyof typeof COUNTERS;

const LABELS: Readonly<Record<CounterName, string>> = { http_requests: "status", mcp_requests: "era", refused: "reason" };

const PREFIX = "gitlab_bridge_";

export function createMetrics(): Metrics {
  const counts = new Map<string, number>();
  return {
    count(name, label = "") {
      const key = `${name}\n${label}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    render(gauges) {
      const lines = (Object.keys(COUNTERS) as CounterName[]).flatMap((name) => [
        `# HELP ${PREFIX}${name}_total ${COUNTERS[name]}`,
        `# TYPE ${PREFIX}${name}_total counter`,
        ...[...counts]
          .filter(([key]) => key.startsWith(`${name}\n`))
          .map(([key, count]) => `${PREFIX}${name}_total{${LABELS[name]}="${key.slice(name.length + 1)}"} ${count}`),
      ]);
      const now = Object.entries(gauges).flatMap(([name, value]) => [`# TYPE ${PREFIX}${name} gauge`, `${PREFIX}${name} ${value}`]);
      return `${[...lines, ...now].join("\n")}\n`;
    },
  };
}
