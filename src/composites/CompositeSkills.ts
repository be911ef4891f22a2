import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { byHubReader, mayDo, withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { isSkillName } from "#src/format/skill-file.ts"
import { isUlid } from "#src/shared/ids.ts"
import { traced } from "#src/shared/traced.ts"
import { Effect } from "effect"
import { compositeSkillOf, strictCompositeSkillOf } from "./composite-skill.ts"
import { CompositeNotFound } from "./Composite.ts"
import { Composites } from "./Composites.ts"

/** Composites as skills for agents. */
export class CompositeSkills extends Effect.Service<CompositeSkills>()("composites/CompositeSkills", {
  effect: Effect.gen(function*() {
    const composites = yield* Composites
    const { baseUrl, hubUrl } = yield* CurrentSettings

    /** The SKILL.md of a composite that the caller may read, made of its members of this moment. */
    const get = traced("CompositeSkills.get")(function*(id: string) {
      const source = yield* composites.readable({ id, caller: yield* CurrentActor })
      return compositeSkillOf({ ...source, baseUrl, hubUrl })
    }, withPolicy(byHubReader))

    /**
     * The same in the strict form, by id or slug, for a caller of any kind: what it may not read is not there. Its name
     * is the part of the address that was asked for, as SEP-2640 has it, in lower case, as Agent Skills have it.
     */
    const strict = Effect.fn("CompositeSkills.strict")(function*(caller: Actor, address: string) {
      const name = address.toLowerCase()
      if (!mayDo(caller, "hubReader") || !isSkillName(name)) return yield* new CompositeNotFound({})
      const id = name.toUpperCase()
      const source = isUlid(id)
        ? yield* composites.readable({ id, caller }).pipe(
          Effect.catchTag("BadCompositeId", () => new CompositeNotFound({}))
        )
        : yield* composites.readableBySlug({ slug: name, caller })
      return strictCompositeSkillOf({ ...source, baseUrl, hubUrl }, name)
    })

    return { get, strict } as const
  })
}) {}
