import { BadRequest } from "#src/shared/Failure.ts"
import { type Selection } from "#tools/McpServer.ts"
import { Toolset } from "#tools/Tool.ts"
import { type HttpServerRequest } from "@effect/platform"
import { Effect, Schema } from "effect"
import { urlOf } from "./streamable.ts"

const isToolset = Schema.is(Toolset)

/** The groups of tools to list: those of `?toolsets=`, or else of the header of that name. */
export const selectionOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Selection, BadRequest> => {
  const text = urlOf(request).searchParams.get("toolsets") ?? request.headers["toolsets"]
  if (text === undefined) return Effect.succeed(undefined)
  const names = text.split(",").map((name) => name.trim())
  if (names.includes("all")) return Effect.succeed(new Set(Toolset.literals))
  const unknown = names.find((name) => !isToolset(name))
  return unknown === undefined
    ? Effect.succeed(new Set(names.filter(isToolset)))
    : new BadRequest({ reason: `toolsets: "${unknown}" is not one of ${Toolset.literals.join(", ")}, all` })
}
