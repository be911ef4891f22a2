#!/usr/bin/env node
import { run } from "#src/cli/root.ts"
import { noteSignal } from "#src/cli/signals.ts"
import { closeInherited } from "#src/shared/inherited-descriptors.ts"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Cause, Effect, Exit, identity, Layer } from "effect"
import * as fs from "node:fs"

/** Node's channel to a process that forked us, and V8's logs (`--prof`, `--perf-prof`), named with our process id. */
const ownLog = new RegExp(`-${process.pid}(-v8\\.log|\\.map|\\.dump)$`)
const isOurs = (descriptor: number) =>
  descriptor === (process.channel as { readonly fd?: number } | undefined)?.fd ||
  ownLog.test(fs.readlinkSync(`/proc/self/fd/${descriptor}`))

// A terminal, a supervisor or a wrapper may have left files open, which neither the database nor a machine may inherit.
// Only Linux lists them here, and only Linux has machines.
if (fs.existsSync("/proc/self/fdinfo")) closeInherited(fs, isOurs)

// Deprecations are for developers. One is known: the cluster library runs its unlocks concurrently on one connection.
if (!process.execArgv.includes("--trace-deprecation")) process.noDeprecation = true

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, noteSignal)
// A terminal that closes stops the process like SIGTERM.
let hungUp = false
process.on("SIGHUP", () => {
  hungUp = true
  process.kill(process.pid, "SIGTERM")
})

/** At exit Node restores the terminal's mode, and crashes if the terminal is gone. It skips closed descriptors. */
const closeTerminal = () => {
  for (const descriptor of [0, 1, 2]) {
    try {
      fs.closeSync(descriptor)
    } catch {
      // Already closed.
    }
  }
}

const stopUnusedDatabase = Effect.flatMap(
  Effect.promise(() => import("#src/UnusedDatabase.ts")),
  ({ stopUnusedDatabase }) => stopUnusedDatabase
)

run(process.argv).pipe(
  process.argv[2] === "serve" ? Effect.onInterrupt(() => stopUnusedDatabase) : identity,
  Effect.provide(Layer.merge(NodeContext.layer, FetchHttpClient.layer)),
  NodeRuntime.runMain({
    disablePrettyLogger: true,
    // Interruption is not a failure; a failed command has set the exit code.
    teardown: (exit, onExit) => {
      if (hungUp) closeTerminal()
      onExit(Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause) ? 1 : Number(process.exitCode ?? 0))
    }
  })
)
