import { type Actor } from "#src/accounts/CurrentActor.ts"
import { isUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { traced } from "#src/shared/traced.ts"
import { Effect, Fiber, Option, Schema } from "effect"
import { LRUCache } from "lru-cache"
import { BadCompositeId, CompositeNotFound } from "./Composite.ts"
import { CompositeMembers } from "./CompositeMembers.ts"
import { CompositesRepo } from "./CompositesRepo.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { QueryDefinition } from "./QueryDefinition.ts"
import { type ReachedComposite } from "./reached-sql.ts"

interface Known {
  readonly text: string
  readonly definition: QueryDefinition
}

/** A composite that is being read for an account, before it is known whether the account asks for it. */
export interface Begun {
  readonly id: string
  readonly accountId: string
  readonly reading: Fiber.Fiber<Option.Option<ReachedComposite>>
}

/** Letters of the definitions that are kept. */
const lettersKept = 4_000_000

const decodeDefinition = Schema.decodeUnknown(Schema.parseJson(QueryDefinition))

/**
 * Composites as they are called: one statement reads the composite, its members of this moment and their servers. What
 * members to look for is known from the last time; the statement itself says whether that holds.
 */
export class ReachedComposites extends Effect.Service<ReachedComposites>()("composites/ReachedComposites", {
  effect: Effect.gen(function*() {
    const composites = yield* CompositesRepo
    const members = yield* CompositeMembers
    const repo = yield* MembersRepo
    const known = new LRUCache<string, Known>({ maxSize: lettersKept })

    const know = Effect.fnUntraced(function*(id: string, text: string) {
      const found: Known = { text, definition: yield* Effect.orDie(decodeDefinition(text)) }
      known.set(id, found, { size: text.length + id.length })
      return found
    })

    const stored = Effect.fnUntraced(function*(id: string, at: Date) {
      const text = yield* composites.definition(id, at)
      return Option.isNone(text) ? Option.none<Known>() : Option.some(yield* know(id, text.value))
    })

    /** As the account calls it; none when there is none. */
    const read = Effect.fnUntraced(function*(id: string, accountId: string) {
      const at = yield* now
      const kept = known.get(id)
      const first = kept === undefined ? yield* stored(id, at) : Option.some(kept)
      if (Option.isNone(first)) return Option.none<ReachedComposite>()
      let last = first.value
      for (;;) {
        const matching = yield* members.matching(last.definition)
        const row = yield* repo.reached(id, at, last.definition, matching, accountId)
        if (Option.isNone(row) || row.value.definition === last.text) return row
        last = yield* know(id, row.value.definition)
      }
    })

    /** Starts to read a composite for an account that may turn out to be another, or to be refused. */
    const begin = (id: string, accountId: string) =>
      Effect.map(Effect.forkDaemon(read(id, accountId)), (reading): Begun => ({ id, accountId, reading }))

    /** One that the caller may read: public, or its account's own. What was begun for the account is not read again. */
    const readable = traced("ReachedComposites.readable")(
      function*(
        { begun, caller, id }: { readonly begun?: Begun | undefined; readonly caller: Actor; readonly id: string }
      ) {
        if (!isUlid(id)) return yield* new BadCompositeId()
        const isSame = begun?.id === id && begun.accountId === caller.accountId
        const row = yield* isSame ? Fiber.join(begun.reading) : read(id, caller.accountId)
        const found = Option.filter(row, (one) => one.visibility === "public" || one.userId === caller.accountId)
        if (Option.isNone(found)) return yield* new CompositeNotFound({ id })
        return found.value
      }
    )

    return { begin, readable } as const
  })
}) {}
