import { Metric } from "effect"

const runs = Metric.counter("berth.jobs.runs", { description: "Runs of jobs that ended", incremental: true })

/** Counts a run by its job and outcome. */
export const countRun = (job: string, outcome: "succeeded" | "failed") =>
  Metric.increment(Metric.tagged(Metric.tagged(runs, "job", job), "outcome", outcome))
