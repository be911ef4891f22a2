import { type Actor } from "#src/accounts/CurrentActor.ts"
import { isUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { Effect, Option, Schema } from "effect"
import { LRUCache } from "lru-cache"
import { BadCompositeId, CompositeNotFound } from "./Composite.ts"
import { CompositeMembers } from "./CompositeMembers.ts"
import { CompositesRepo } from "./CompositesRepo.ts"
import { isVisible } from "./is-visible.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { QueryDefinition } from "./QueryDefinition.ts"

interface Known {
  readonly text: string
  readonly definition: QueryDefinition
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
      return Option.isSome(text) ? yield* know(id, text.value) : yield* new CompositeNotFound({ id })
    })

    /** One that the caller may read: public, or its account's own. */
    const readable = Effect.fn("ReachedComposites.readable")(
      function*({ caller, id }: { readonly caller: Actor; readonly id: string }) {
        if (!isUlid(id)) return yield* new BadCompositeId()
        const at = yield* now
        let last = known.get(id) ?? (yield* stored(id, at))
        for (;;) {
          const matching = yield* members.matching(last.definition)
          const row = yield* repo.reached(id, at, last.definition, matching, caller.accountId)
          if (Option.isNone(row) || !isVisible(caller, row.value)) return yield* new CompositeNotFound({ id })
          if (row.value.definition === last.text) return row.value
          last = yield* know(id, row.value.definition)
        }
      }
    )

    return { readable } as const
  })
}) {}
