import { jobTable } from "#src/cli/jobs-command.ts"
import { type JobRecord } from "#src/jobs/Job.ts"
import { describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { berthCli } from "./mcp/run.ts"

const at = (second: number) => new Date(Date.UTC(2026, 10, 22, 8, 0, second))

const fresh: JobRecord = {
  name: "Metering",
  host: "host_1",
  intervalMillis: 10_000,
  lastRunAt: null,
  tookMillis: null,
  failedAt: null,
  failure: null
}

describe("the list of jobs", () => {
  it("has a line for each: how often, when, how long, and why it failed last", () => {
    const ran = { ...fresh, lastRunAt: at(30), tookMillis: 12 }
    const lines = jobTable([
      fresh,
      { ...ran, name: "Sweeping", host: "", intervalMillis: 5_400_000 },
      { ...ran, name: "Removing", intervalMillis: null, failedAt: at(10), failure: "no \u001b[31mroom" },
      { ...ran, name: "Trimming", failedAt: at(30), failure: "the database can't be reached" }
    ])
    expect(lines.split("\n")).toEqual([
      "JOB       HOST    EVERY       LAST RUN              TOOK   LAST FAILURE",
      "Metering  host_1  10s         never                 -      -",
      "Sweeping  any     1h 30m      2026-11-22T08:00:30Z  12 ms  -",
      "Removing  host_1  when asked  2026-11-22T08:00:30Z  12 ms  2026-11-22T08:00:10Z: no [31mroom",
      "Trimming  host_1  10s         2026-11-22T08:00:30Z  12 ms  the last run: the database can't be reached"
    ])
  })
})

describe("berth admin jobs", () => {
  const berth = useBerth()
  const list = () => berthCli(["admin", "jobs"], { DATABASE_URL: berth.databaseUrl, BERTH_HOME: temporaryDirectory() })

  it("lists every job of a platform that runs", async () => {
    await expect.poll(list, { timeout: 20_000 }).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Looking at the disk +host_\w{26}  1m +\d{4}-\S+Z  \d+ ms +-$/m)
    })
    const jobs = async () => (await list()).out.split("\n").slice(1).map((line) => line.split(/ {2,}/).slice(0, 3))
    const host = (await jobs()).find(([, host]) => host !== "any")?.[1]
    await expect.poll(jobs, { timeout: 20_000 }).toEqual([
      ["Carrying on with publications", "any", "1m"],
      ["Choosing broad labels of composites", "any", "5m"],
      ["Collecting images and journals", host, "1h"],
      ["Counting MCP sessions", host, "1s"],
      ["Counting composites", "any", "10s"],
      ["Dropping expired previews", "any", "1h"],
      ["Dropping expired records", "any", "10m"],
      ["Ending billing periods", "any", "10s"],
      ["Indexing catalogs", "any", "2s"],
      ["Listing changed tools", host, "2s"],
      ["Looking after machines", host, "2s"],
      ["Looking at the disk", host, "1m"],
      ["Making system composites", "any", "6h"],
      ["Metering machines", host, "10s"],
      ["Ordering composites", "any", "30s"],
      ["Probing servers of businesses", "any", "1m"],
      ["Purging expired composites", "any", "1d"],
      ["Putting idle servers to sleep", host, "5s"],
      ["Raising verification levels", "any", "30s"],
      ["Reading subscriptions again", "any", "1h"],
      ["Removing images", host, "when asked"],
      ["Removing replaced documents", "any", "10m"],
      ["Romanising names", "any", "5s"],
      ["Sweeping machines and pipelines", host, "30s"],
      ["Telling owners of their limits", "any", "20s"],
      ["Telling which servers are used", host, "3s"],
      ["Tidying the directory", "any", "10m"],
      ["Trimming server logs", "any", "10m"],
      ["Waking servers that are asked for", host, "2s"],
      ["Writing calls of tools", host, "3s"],
      ["Writing events", host, "1s"],
      ["Writing requests of servers", host, "3s"],
      ["Writing unmet searches", host, "5s"],
      ["Writing usage", host, "3s"]
    ])
  })
})

describe("berth admin jobs, before anything was served", () => {
  it("says so", () => {
    expect(jobTable([])).toBe("No job has run yet")
  })
})
