#!/usr/bin/env node
import { FetchHttpClient } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer } from "effect"
import { run } from "./cli/root.ts"

run(process.argv).pipe(
  Effect.provide(Layer.merge(NodeContext.layer, FetchHttpClient.layer)),
  NodeRuntime.runMain({
    disablePrettyLogger: true,
    // Being told to stop is no failure; a command that failed has said so in the exit code.
    teardown: (exit, onExit) =>
      onExit(Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause) ? 1 : Number(process.exitCode ?? 0))
  })
)
