/**
 * What the program takes from its start to its first good answer on an empty home (`--no-demo`) that exists, with the embedded
 * database, by the clock and of the processor (its own threads, without the database), and what memory it holds when it has
 * rested.
 * With a second build the two take turns, so that they can be compared.
 *
 *   npm run bench start [other build's dist/berth.js]
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort } from "../support/http.ts"
import { residentBytes } from "./support/memory.ts"
import { nodeOptions } from "./support/node-options.ts"
import { processorTime } from "./support/processor.ts"

const rounds = 5
const restSeconds = 75

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Milliseconds to the first good answer, and how many of them the processor was busy with it. */
const start = async (program: string, home: string) => {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(process.execPath, [...nodeOptions, program, "serve", "--no-demo"], {
    env: { PATH: process.env["PATH"] ?? "", BERTH_HOME: home, PORT: String(port), LOG_LEVEL: "WARN" },
    stdio: ["ignore", "ignore", "inherit"]
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${program} ended`)
    const healthy = await fetch(`http://127.0.0.1:${port}/v1/health`).then((answer) => answer.ok, () => false)
    if (healthy) return { child, took: performance.now() - began, processor: processorTime(child.pid!) }
    await sleep(10)
  }
}

const stop = async (child: ChildProcess) => {
  child.kill("SIGTERM")
  await once(child, "exit")
}

const residentMb = (pid: number) => residentBytes(pid) / 1024 ** 2

const programs = ["dist/berth.js", ...process.argv.slice(2)].map((path) => resolve(path))
const home = mkdtempSync(join(tmpdir(), "berth-bench-start-"))
try {
  // Makes the home.
  await stop((await start(programs[0]!, home)).child)
  const took = programs.map((): Array<number> => [])
  const processor = programs.map((): Array<number> => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, program] of programs.entries()) {
      const started = await start(program, home)
      took[i]!.push(started.took)
      processor[i]!.push(started.processor)
      await stop(started.child)
    }
  }
  for (const [i, program] of programs.entries()) {
    const { child } = await start(program, home)
    await sleep(3_000)
    const soon = residentMb(child.pid!)
    await sleep(restSeconds * 1000)
    const rested = residentMb(child.pid!)
    await stop(child)
    console.log(
      `${program}: healthy after ${Math.round(median(took[i]!))} ms, ${Math.round(median(processor[i]!))} ms of them ` +
        `processor time (medians of ${rounds}), ${Math.round(soon)} MB after 3 s, ${Math.round(rested)} MB after ` +
        `${restSeconds} s`
    )
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
