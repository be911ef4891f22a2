import { Metric, type MetricPair, MetricState } from "effect"

type Pair = MetricPair.MetricPair.Untyped

/** Names of ours are OpenTelemetry's, which has units beside them; Prometheus has them at their end. */
const units: Readonly<Record<string, string>> = {
  "http.server.request.duration": "seconds",
  "nodejs.eventloop.delay.p99": "seconds",
  "process.memory.usage": "bytes"
}

const nameOf = (name: string) => [name, units[name] ?? []].flat().join("_").replace(/[^a-zA-Z0-9_:]/g, "_")

/** Text exposition format 0.0.4, "Comments, help text, and type information". */
const helpText = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const labelText = (text: string) => helpText(text).replaceAll("\"", "\\\"")

const labels = (pairs: ReadonlyArray<readonly [string, string]>) =>
  pairs.length === 0
    ? ""
    : `{${pairs.map(([name, value]) => `${name.replace(/[^a-zA-Z0-9_]/g, "_")}="${labelText(value)}"`).join(",")}}`

/** Its type, the suffix of its name, and its samples. */
const readings = ({ metricKey: { tags }, metricState: state }: Pair) => {
  const own = tags.map(({ key, value }) => [key, value] as const)
  if (MetricState.isHistogramState(state)) {
    const bounded = state.buckets.filter(([bound]) => Number.isFinite(bound))
    const buckets = [
      ...bounded.map(([bound, count]) => [String(bound), count] as const),
      ["+Inf", state.count] as const
    ]
    return {
      type: "histogram",
      suffix: "",
      samples: [
        ...buckets.map(([le, count]) => ({ part: "_bucket", labels: labels([...own, ["le", le]]), value: count })),
        { part: "_sum", labels: labels(own), value: state.sum },
        { part: "_count", labels: labels(own), value: state.count }
      ]
    }
  }
  if (MetricState.isCounterState(state)) {
    return {
      type: "counter",
      suffix: "_total",
      samples: [{ part: "", labels: labels(own), value: Number(state.count) }]
    }
  }
  if (MetricState.isGaugeState(state)) {
    return { type: "gauge", suffix: "", samples: [{ part: "", labels: labels(own), value: Number(state.value) }] }
  }
  return undefined
}

/**
 * The process's metrics as Prometheus reads them. Its own client keeps a registry beside Effect's, and OpenTelemetry's
 * exporter comes with an SDK of another version than ours.
 */
export const prometheusText = (pairs: ReadonlyArray<Pair> = Metric.unsafeSnapshot()): string => {
  const families = new Map<string, Array<string>>()
  for (const pair of pairs) {
    const reading = readings(pair)
    if (reading === undefined) continue
    const { description, name: own } = pair.metricKey
    const name = `${nameOf(own)}${reading.suffix}`
    const help = description._tag === "Some" ? description.value : own
    const lines = families.get(name) ?? [`# HELP ${name} ${helpText(help)}`, `# TYPE ${name} ${reading.type}`]
    for (const { labels, part, value } of reading.samples) lines.push(`${name}${part}${labels} ${value}`)
    families.set(name, lines)
  }
  return [...families.keys()].sort().flatMap((name) => families.get(name) ?? []).map((line) => `${line}\n`).join("")
}
