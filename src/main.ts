#!/usr/bin/env node
import { FetchHttpClient } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer } from "effect"
import { run } from "./cli/root.ts"

// The first signal starts an orderly end; its repetition (a terminal and npm both send Ctrl-C) must not cut that off.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined)
// A terminal that closes asks for the same end.
process.once("SIGHUP", () => process.kill(process.pid, "SIGTERM"))

run(process.argv).pipe(
  Effect.provide(Layer.merge(NodeContext.layer, FetchHttpClient.layer)),
  NodeRuntime.runMain({
    disablePrettyLogger: true,
    // Being told to stop is no failure; a command that failed has said so in the exit code.
    teardown: (exit, onExit) =>
      onExit(Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause) ? 1 : Number(process.exitCode ?? 0))
  })
)
