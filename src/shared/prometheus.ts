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

type Labels = ReadonlyArray<readonly [name: string, value: string]>

const labelled = (pairs: Labels) =>
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
        ...buckets.map(([le, count]) => ({ part: "_bucket", labels: [...own, ["le", le] as const], value: count })),
        { part: "_sum", labels: own, value: state.sum },
        { part: "_count", labels: own, value: state.count }
      ]
    }
  }
  if (MetricState.isCounterState(state)) {
    return {
      type: "counter",
      suffix: "_total",
      samples: [{ part: "", labels: own, value: Number(state.count) }]
    }
  }
  if (MetricState.isGaugeState(state)) {
    return { type: "gauge", suffix: "", samples: [{ part: "", labels: own, value: Number(state.value) }] }
  }
  return undefined
}

/** A metric with its samples, as plain data: processes that share a port send it to the one that has it. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly samples: ReadonlyArray<{ readonly part: string; readonly labels: Labels; readonly value: number }>
}

/** The process's metrics. */
export const readMetrics = (pairs: ReadonlyArray<Pair> = Metric.unsafeSnapshot()): ReadonlyArray<Family> =>
  pairs.flatMap((pair) => {
    const reading = readings(pair)
    if (reading === undefined) return []
    const { description, name: own } = pair.metricKey
    const help = description._tag === "Some" ? description.value : own
    return [{ ...reading, name: `${nameOf(own)}${reading.suffix}`, help }]
  })

/**
 * Metrics as Prometheus reads them. Its own client keeps a registry beside Effect's, and OpenTelemetry's exporter comes
 * with an SDK of another version than ours.
 */
export const prometheusText = (families: ReadonlyArray<Family> = readMetrics()): string => {
  const byName = new Map<string, Array<string>>()
  for (const { help, name, samples, type } of families) {
    const lines = byName.get(name) ?? [`# HELP ${name} ${helpText(help)}`, `# TYPE ${name} ${type}`]
    for (const { labels, part, value } of samples) lines.push(`${name}${part}${labelled(labels)} ${value}`)
    byName.set(name, lines)
  }
  return [...byName.keys()].sort().flatMap((name) => byName.get(name) ?? []).map((line) => `${line}\n`).join("")
}

/** The same with one label more. */
export const withLabel = (families: ReadonlyArray<Family>, label: readonly [string, string]): ReadonlyArray<Family> =>
  families.map((family) => ({
    ...family,
    samples: family.samples.map((sample) => ({ ...sample, labels: [...sample.labels, label] }))
  }))
