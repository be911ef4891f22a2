#!/usr/bin/env node
import { run } from "#src/cli/root.ts"
import { noteSignal } from "#src/cli/signals.ts"
import { closeInherited } from "#src/shared/inherited-descriptors.ts"
import { FetchHttpClient } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer } from "effect"
import * as fs from "node:fs"

/** Node's channel to whatever forked us, and V8's logs (`--prof`, `--perf-prof`), which have our process id in the name. */
const ownLog = new RegExp(`-${process.pid}(-v8\\.log|\\.map|\\.dump)$`)
const isOurs = (descriptor: number) =>
  descriptor === (process.channel as { readonly fd?: number } | undefined)?.fd ||
  ownLog.test(fs.readlinkSync(`/proc/self/fd/${descriptor}`))

// A terminal, a supervisor or a wrapper may have left files open: neither the database nor a machine may get them.
// Only Linux lists them so, and only Linux has machines.
if (fs.existsSync("/proc/self/fdinfo")) closeInherited(fs, isOurs)

// Deprecations are for developers. One is known: the cluster library unlocks its shards at once over one connection.
if (!process.execArgv.includes("--trace-deprecation")) process.noDeprecation = true

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, noteSignal)
// A terminal that closes asks for the same end.
let hungUp = false
process.on("SIGHUP", () => {
  hungUp = true
  process.kill(process.pid, "SIGTERM")
})

/** Node puts the terminal's mode back as it leaves, and crashes when the terminal is gone; closed files it leaves alone. */
const letGo = () => {
  for (const descriptor of [0, 1, 2]) {
    try {
      fs.closeSync(descriptor)
    } catch {
      // It was closed before.
    }
  }
}

run(process.argv).pipe(
  Effect.provide(Layer.merge(NodeContext.layer, FetchHttpClient.layer)),
  NodeRuntime.runMain({
    disablePrettyLogger: true,
    // Being told to stop is no failure; a command that failed has said so in the exit code.
    teardown: (exit, onExit) => {
      if (hungUp) letGo()
      onExit(Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause) ? 1 : Number(process.exitCode ?? 0))
    }
  })
)
