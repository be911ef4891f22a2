import { preferred } from "#http/answers/accept.ts"
import { eventStreamType } from "#http/answers/event-stream.ts"
import { LogEntry } from "#src/servers/ServerLog.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Duration, Schedule, Schema, Stream } from "effect"

const encode = Schema.encodeSync(Schema.parseJson(LogEntry))

export const wantsEvents = ({ headers }: HttpServerRequest.HttpServerRequest) =>
  preferred(headers, ["application/json", "text/event-stream"]) === "text/event-stream"

const event = (entry: typeof LogEntry.Type) => `event: log\nid: ${entry.id}\ndata: ${encode(entry)}\n\n`

/** Proxies and clients close a silent stream. */
const keepAlive = Stream.fromSchedule(Schedule.spaced(Duration.seconds(15))).pipe(Stream.map(() => ": keep-alive\n\n"))

/**
 * Log entries as server-sent events (HTML Living Standard §9.2): `event: log`, `id`, `data` the entry. The stream opens
 * with a comment, so that the client sees at once that it is open.
 */
export const logEvents = <E>(entries: Stream.Stream<typeof LogEntry.Type, E>) =>
  HttpServerResponse.stream(
    Stream.make(": open\n\n").pipe(
      Stream.concat(Stream.merge(Stream.map(entries, event), keepAlive, { haltStrategy: "left" })),
      Stream.encodeText
    ),
    { contentType: eventStreamType, headers: { "cache-control": "no-store", "x-accel-buffering": "no" } }
  )
