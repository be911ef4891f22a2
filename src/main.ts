#!/usr/bin/env node
import { FetchHttpClient } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { run } from "./cli/root.ts"

run(process.argv).pipe(
  Effect.provide(Layer.merge(NodeContext.layer, FetchHttpClient.layer)),
  NodeRuntime.runMain({ disablePrettyLogger: true })
)
