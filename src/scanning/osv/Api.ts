import { messageOf } from "#src/shared/message-of.ts"
import { Effect, Schedule, Schema } from "effect"
import { ScanError } from "../Scanner.ts"
import { Advisory, BatchAnswer } from "./schemas.ts"

export interface Query {
  readonly package: { readonly ecosystem: string; readonly name: string }
  readonly version: string
  readonly page_token?: string
}

const MiB = 1024 ** 2
/** OSV keeps its answers below 32 MiB. */
const mostBytes = 40 * MiB
const requestMs = 30_000

interface Failure {
  readonly error: ScanError
  /** Whether the same request may succeed a moment later. */
  readonly passes: boolean
  readonly status?: number
}

const failure = (what: string, passes: boolean, status?: number): Failure => ({
  error: new ScanError({ message: `OSV ${what}` }),
  passes,
  ...(status === undefined ? {} : { status })
})

const bytesOf = async (answer: Response) => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > mostBytes) throw failure(`answered more than ${mostBytes / MiB} MiB`, false)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const isFailure = (cause: unknown): cause is Failure =>
  typeof cause === "object" && cause !== null && "error" in cause && cause.error instanceof ScanError

const reason = (cause: unknown) =>
  cause instanceof Error && cause.cause instanceof Error ? messageOf(cause.cause) : messageOf(cause)

/** The API of OSV at an address (https://google.github.io/osv.dev/api). */
export const osvApi = (root: string) => {
  const send = (path: string, body: unknown, ms: number) =>
    Effect.tryPromise({
      try: async (signal) => {
        const answer = await fetch(`${root}${path}`, {
          signal: AbortSignal.any([signal, AbortSignal.timeout(ms)]),
          // Nobody but the operator says where the list of packages goes.
          redirect: "error",
          headers: { "user-agent": "berth", "content-type": "application/json" },
          ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
        })
        if (answer.status !== 200) {
          await answer.body?.cancel()
          const { status } = answer
          throw failure(`answered ${path} with ${status}`, status === 429 || status >= 500, status)
        }
        return (await bytesOf(answer)).toString("utf8")
      },
      catch: (cause): Failure => isFailure(cause) ? cause : failure(`could not be asked: ${reason(cause)}`, true)
    })

  const ask = <A, I>(schema: Schema.Schema<A, I>, path: string, body?: unknown, { ms = requestMs, times = 2 } = {}) =>
    send(path, body, ms).pipe(
      Effect.retry({ schedule: Schedule.exponential("500 millis"), times, while: ({ passes }) => passes }),
      Effect.flatMap((text) =>
        Effect.mapError(
          Schema.decodeUnknown(Schema.parseJson(schema))(text),
          () => failure(`answered ${path} with what can't be read`, false)
        )
      )
    )

  const errorOf = Effect.mapError(({ error }: Failure) => error)
  const read = (id: string) => ask(Advisory, `/v1/vulns/${encodeURIComponent(id)}`)

  const batch = Effect.fn("Osv.batch")(function*(queries: ReadonlyArray<Query>) {
    const { results } = yield* errorOf(ask(BatchAnswer, "/v1/querybatch", { queries }))
    return results.length === queries.length
      ? results
      : yield* new ScanError({ message: `OSV answered ${results.length} of ${queries.length} packages` })
  })

  return {
    batch,
    advisory: (id: string) => errorOf(read(id)),
    /** The same of one that OSV may not have. */
    advisoryIfAny: (id: string) =>
      errorOf(Effect.catchIf(read(id), ({ status }) => status === 404, () => Effect.succeed(undefined))),
    /** Whether it is there, within a moment. */
    answers: errorOf(ask(
      BatchAnswer,
      "/v1/querybatch",
      {
        queries: [{ package: { ecosystem: "npm", name: "lodash" }, version: "4.17.21" }] satisfies ReadonlyArray<Query>
      },
      { ms: 3_000, times: 0 }
    ))
  } as const
}

export type OsvApi = ReturnType<typeof osvApi>
