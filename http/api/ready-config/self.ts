import { data } from "#http/answers/envelope.ts"
import { CurrentCaller } from "#http/callers/caller.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { Unauthorized } from "#src/accounts/Policy.ts"
import { ConfigNotGenerated, ReadyConfigs } from "#src/businesses/ReadyConfigs.ts"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Option } from "effect"
import { createHash } from "node:crypto"

const entityTag = (text: string) => `"${createHash("sha256").update(text).digest("base64url")}"`

/** RFC 9110 §13.1.2: a list of tags, compared weakly, or `*`. */
const names = (ifNoneMatch: string, tag: string) =>
  ifNoneMatch.split(",").map((one) => one.trim().replace(/^W\//, "")).some((one) => one === "*" || one === tag)

const reason = "Send the server's PLATFORM_MCP_REPLAY_TOKEN as Authorization: Bearer"

/**
 * A hosted server reads the configuration of its own business, and of no other: that of its deployment, in its current
 * state. With the tag of the last response it gets 304 while nothing has changed.
 */
export const SelfConfigRoute = rawRoutes((add) =>
  Effect.flatMap(ReadyConfigs, (configs) =>
    add(
      "GET",
      "/api/v1/ready/self/config",
      { credential: "machine", forMachines: true },
      Effect.gen(function*() {
        const caller = yield* CurrentCaller
        if (caller._tag !== "Machine") return yield* new Unauthorized({ reason })
        const config = yield* configs.ofServer(caller.machine.serverId)
        if (Option.isNone(config)) return yield* new ConfigNotGenerated()
        const text = JSON.stringify(data(config.value))
        const etag = entityTag(text)
        const headers = { etag, "cache-control": "private, no-cache" }
        const { headers: sent } = yield* HttpServerRequest.HttpServerRequest
        return names(sent["if-none-match"] ?? "", etag)
          ? HttpServerResponse.empty({ status: 304, headers })
          : HttpServerResponse.text(text, { headers, contentType: "application/json" })
      })
    ))
)
