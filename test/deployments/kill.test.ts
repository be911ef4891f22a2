import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { request } from "node:http"
import { text } from "node:stream/consumers"
import { freshDatabaseUrl } from "../support/Database.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { appImage } from "./support/app-image.ts"
import { destroyMachines } from "./support/machines.ts"

const Begun = Schema.parseJson(Schema.Struct({
  account: Schema.String,
  server: Schema.String,
  one: Schema.String,
  two: Schema.String,
  address: Schema.Struct({ path: Schema.String })
}))
const Found = Schema.parseJson(Schema.Struct({
  status: Schema.String,
  deployments: Schema.Array(Schema.Struct({
    id: Schema.String,
    status: Schema.String,
    active: Schema.Boolean,
    errorMessage: Schema.optional(Schema.String),
    deployedAt: Schema.NullOr(Schema.String)
  })),
  machines: Schema.Array(Schema.Struct({ name: Schema.String, status: Schema.String }))
}))

const run = (...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const child = spawn(
      process.execPath,
      ["--import", "tsx", "test/deployments/support/pipeline.program.ts", ...args],
      {
        stdio: ["ignore", "pipe", "inherit"]
      }
    )
    const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")])
    return { signal, last: output.trim().split("\n").at(-1) ?? "" }
  })

const answers = (socketPath: string) =>
  Effect.promise(() =>
    new Promise<boolean>((resolve) => {
      const outgoing = request({ socketPath, path: "/healthz" }, (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      })
      outgoing.on("error", () => resolve(false))
      outgoing.end()
    })
  )

const everyStage = ["resolving", "scanning", "mirroring", "creating", "starting", "checking", "swapping", "draining"]
/**
 * Each takes two processes; all of them, and moments between them, with SOAK=1. The other stages that differ are those at
 * which test/program/kill.test.ts kills the program itself.
 */
const sample = process.env["SOAK"] === "1"
  ? everyStage.flatMap((stage) => [0, 20, 150].map((delay) => [stage, delay] as const))
  : [["mirroring", 0]] as const

const beforeTheSwap = (stage: string) => everyStage.indexOf(stage) < everyStage.indexOf("checking")

describeLong("a platform that is killed in the middle of a deployment", () => {
  for (const [stage, delay] of sample) {
    it.scopedLive(`has one machine and a true record afterwards (${stage}, ${delay} ms)`, () =>
      Effect.gen(function*() {
        const url = yield* freshDatabaseUrl
        const home = temporaryDirectory("kill")
        yield* Effect.addFinalizer(() => destroyMachines(home))
        const images = [yield* appImage("healthy", { note: "one" }), yield* appImage("slow", { note: "two" })]
        const killed = yield* run("deploy", url, home, ...images, stage, String(delay))
        assert.strictEqual(killed.signal, "SIGKILL")
        const { account, address, one, server, two } = yield* Schema.decode(Begun)(killed.last)
        if (beforeTheSwap(stage)) assert.isTrue(yield* answers(address.path), "the old machine serves on")

        const resumed = yield* run("resume", url, home, account, server)
        const found = yield* Schema.decode(Found)(resumed.last)
        const [second, first] = found.deployments
        assert.strictEqual(found.status, "running")
        assert.deepInclude(second!, { id: two, status: "running", active: true })
        assert.isNotNull(second!.deployedAt)
        assert.deepInclude(first!, { id: one, status: "running", active: false })
        assert.deepStrictEqual(found.machines, [{ name: two, status: "running" }])
      }), 60_000)
  }
})
