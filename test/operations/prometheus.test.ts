import { prometheusText, readMetrics, withLabel } from "#src/shared/prometheus.ts"
import { Metric, MetricBoundaries } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { freePort } from "../support/http.ts"

/** Text exposition format 0.0.4: a comment, or a sample with its labels and value. */
const line =
  /^(# HELP \w+ .+|# TYPE \w+ (counter|gauge|histogram)|\w+(\{(\w+="([^"\\\n]|\\["\\n])*",?)*\})? [-+.\dEeInfNa]+)$/

describe("metrics for Prometheus", () => {
  it("have names, help and escaped labels as it reads them, and buckets that add up", () => {
    const tagged = Metric.tagged(
      Metric.counter("test.counted", { incremental: true, description: "a\nb" }),
      "what",
      "\"\\\n"
    )
    const times = Metric.histogram("test.times", MetricBoundaries.fromIterable([0.1, 1]), "Times")
    tagged.unsafeUpdate(2, [])
    for (const value of [0.05, 0.5, 5]) times.unsafeUpdate(value, [])
    const own = prometheusText().split("\n").filter((one) => one.includes("test_"))
    expect(own).toEqual([
      "# HELP test_counted_total a\\nb",
      "# TYPE test_counted_total counter",
      `test_counted_total{what="\\"\\\\\\n"} 2`,
      "# HELP test_times Times",
      "# TYPE test_times histogram",
      `test_times_bucket{le="0.1"} 1`,
      `test_times_bucket{le="1"} 2`,
      `test_times_bucket{le="+Inf"} 3`,
      "test_times_sum 5.55",
      "test_times_count 3"
    ])
  })

  it("of several processes are one metric each, told apart by a label", () => {
    Metric.counter("test.shared", { incremental: true, description: "Shared" }).unsafeUpdate(3, [])
    const own = readMetrics().filter(({ name }) => name === "test_shared_total")
    expect(prometheusText([...withLabel(own, ["process", "1"]), ...withLabel(own, ["process", "2"])])).toBe(
      "# HELP test_shared_total Shared\n# TYPE test_shared_total counter\n" +
        "test_shared_total{process=\"1\"} 3\ntest_shared_total{process=\"2\"} 3\n"
    )
  })

  describe("at METRICS_PORT", () => {
    const running: Array<Berth> = []
    afterAll(() => Promise.all(running.map((berth) => berth.stop())))

    it("tell of requests, jobs, machines and the database, on this host alone, and on no other port", async () => {
      const port = await freePort()
      const berth = await new Berth().start({ variables: { METRICS_PORT: String(port) } })
      running.push(berth)
      const owner = await berth.signUp()
      await owner.get("/v1/projects")
      const read = (path = "/metrics", method = "GET") => fetch(`http://127.0.0.1:${port}${path}`, { method })
      await expect.poll(async () => (await read()).text()).toContain("berth_jobs_runs_total{")
      const answer = await read()
      expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8")
      const text = await answer.text()
      for (const one of text.trimEnd().split("\n")) expect(one).toMatch(line)
      expect(text).toMatch(
        /http_server_request_duration_seconds_bucket\{[^}]*http_route="\/v1\/projects"[^}]*le="0.1"\} \d/
      )
      expect(text).toContain("berth_machines{state=\"running\"} 0")
      expect(text).toContain("db_client_connection_count{")
      expect([(await read("/")).status, (await read("/metrics", "POST")).status]).toEqual([404, 405])
      expect((await berth.request("GET", "/metrics")).status).toBe(404)
      await expect(new Berth().start({ variables: { METRICS_PORT: String(port) } })).rejects.toThrow(/METRICS_PORT/)
    })
  })
})
