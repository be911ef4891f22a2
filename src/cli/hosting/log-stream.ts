import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { LogEntry } from "#src/servers/ServerLog.ts"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Console, Data, Effect, Either, Schedule, Schema, Stream } from "effect"
import { createParser } from "eventsource-parser"
import { type Connected } from "./platform.ts"

/** The installation has said no: another try would hear the same. */
export class Refused extends Data.TaggedError("Refused")<{ readonly status: number }> {}

class Ended extends Data.TaggedError("Ended") {}

type Entry = typeof LogEntry.Type

const decode = Schema.decodeEither(Schema.parseJson(LogEntry))

/** Retries while the installation does not answer: after one second, and at most every ten. */
const again = Schedule.exponential("1 second").pipe(Schedule.union(Schedule.spaced("10 seconds")))

/** One connection's entries; it ends when the connection does. `since`: the id of the entry that was seen last. */
const listen = ({ bearer, root }: Connected, serverId: string, since: () => string | undefined) =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const last = since()
    const response = yield* HttpClient.execute(
      HttpClientRequest.get(`${root}/v1/servers/${serverId}/logs`).pipe(
        HttpClientRequest.setHeaders({
          authorization: `Bearer ${yield* bearer}`,
          accept: "text/event-stream",
          ...(last === undefined ? {} : { "last-event-id": last })
        })
      )
    )
    if (response.status !== 200) return yield* new Refused({ status: response.status })
    const ready: Array<Entry> = []
    const parser = createParser({
      onEvent: ({ data }) => {
        const entry = decode(data)
        if (Either.isRight(entry)) ready.push(entry.right)
      }
    })
    return response.stream.pipe(
      Stream.decodeText(),
      Stream.mapConcat((text) => {
        parser.feed(text)
        return ready.splice(0)
      })
    )
  }))

const mayPass = (error: { readonly _tag: string }) =>
  error instanceof CliFailure
    ? error.code === exitCodes.noAnswer
    : !(error instanceof Refused) || error.status >= 500 || error.status === 429

/** Entries as they come. A connection that breaks is opened again, from the entry that was seen last. */
export const followLog = (connected: Connected, serverId: string, from: string | undefined) => {
  let last = from
  const lost = Console.error("The connection was lost; connecting again")
  return listen(connected, serverId, () => last).pipe(
    Stream.tap((entry) =>
      Effect.sync(() => {
        last = entry.id
      })
    ),
    // An end is no failure, and is followed by the next connection all the same.
    Stream.concat(Stream.fail(new Ended())),
    Stream.tapError((error) => mayPass(error) ? lost : Effect.void),
    Stream.retry(again.pipe(Schedule.whileInput(mayPass)))
  )
}
