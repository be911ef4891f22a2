import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Directory } from "#src/directory/Directory.ts"
import { Projects } from "#src/projects/Projects.ts"
import { Servers } from "#src/servers/Servers.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { Effect, Runtime } from "effect"

export type Subject = "projects" | "servers" | "listings"

interface Completion {
  [key: string]: unknown
  readonly values: Array<string>
  readonly total: number
  readonly hasMore: boolean
}

/** Values of a subject for what was typed so far. */
export type Complete = (subject: Subject, typed: string) => Promise<Completion>

/** The newest things are looked at; a protocol's answer holds 100 at most (MCP 2025-11-25, Completion). */
const most = 100

interface Named {
  readonly id: string
  readonly name: string
  readonly slug: string
}

/** Ids of what has such an id, name or slug. */
const idsOf = (typed: string, { data }: { readonly data: ReadonlyArray<Named> }) => {
  const begun = typed.toLowerCase()
  return data.filter(({ id, name, slug }) => [id, name, slug].some((text) => text.toLowerCase().startsWith(begun)))
    .map(({ id }) => id)
}

/** What the caller may see, and nothing where it may see none. */
export const completions = Effect.gen(function*() {
  const projects = yield* Projects
  const servers = yield* Servers
  const directory = yield* Directory
  const runPromise = Runtime.runPromise(yield* Effect.runtime<never>())

  const find = (subject: Subject, typed: string) => {
    if (subject === "projects") return Effect.map(projects.list({ limit: most }), (page) => idsOf(typed, page))
    if (subject === "servers") return Effect.map(servers.list({ limit: most }), (page) => idsOf(typed, page))
    // Nobody has seen the listings that are completed from: it counts as no impression.
    return Effect.map(
      directory.list({ limit: 20, ...(typed === "" ? {} : { search: typed }) }, false),
      ({ data }) => data.map(({ businessSlug }) => businessSlug)
    )
  }

  return (actor: Actor, address: string): Complete => (subject, typed) =>
    runPromise(
      find(subject, typed.slice(0, 200)).pipe(
        Effect.orElseSucceed((): ReadonlyArray<string> => []),
        Effect.map((values) => ({ values: [...values], total: values.length, hasMore: false })),
        Effect.provideService(CurrentActor, actor),
        Effect.provideService(CallerAddress, address)
      )
    )
})
