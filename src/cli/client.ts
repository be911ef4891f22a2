#!/usr/bin/env node
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Cause, Effect, Exit, Layer } from "effect"
import { clientCommands } from "./client-commands.ts"
import { commandLine } from "./command-line.ts"
import { type Commands } from "./command.ts"
import { completions } from "./completions.ts"

/** The package of the command line alone (packages/cli): what speaks to an installation, without the platform. */
const commands: Commands = { ...clientCommands, completions: completions(() => commands) }

commandLine(commands)(process.argv).pipe(
  Effect.provide(Layer.merge(NodeContext.layer, FetchHttpClient.layer)),
  NodeRuntime.runMain({
    disablePrettyLogger: true,
    teardown: (exit, onExit) =>
      onExit(Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause) ? 1 : Number(process.exitCode ?? 0))
  })
)
