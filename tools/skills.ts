import { type Actor } from "#src/accounts/CurrentActor.ts"
import { CompositeSkills } from "#src/composites/CompositeSkills.ts"
import { type ServedSkills } from "#src/format/skills-over-mcp.ts"
import { ListingSkills } from "#src/hub/ListingSkills.ts"
import { platformSkills } from "#src/hub/platform-skills.ts"
import { Effect, Either, Runtime } from "effect"
import { failureOf } from "./failures.ts"

const listingUri = (slug: string) => `skill://listings/${slug}/SKILL.md`
const compositeUri = (name: string) => `skill://composites/${name}/SKILL.md`
const skillUri = /^skill:\/\/(listings|composites)\/([^/]+)\/SKILL\.md$/

const own = platformSkills.map((file) => ({ uri: `skill://berth/${file.frontmatter.name}/SKILL.md`, file }))

/**
 * The platform's own skills, those of listings, and those of composites that the caller may read: skills/list names the
 * best listings, skills/get and resources/read find every one. Reading a listing's counts as a click, as it does over
 * HTTP; listing them does not.
 */
export const doorSkills = Effect.gen(function*() {
  const listings = yield* ListingSkills
  const composites = yield* CompositeSkills
  const runPromise = Runtime.runPromise(yield* Effect.runtime<never>())
  /** What went wrong inside stays inside. */
  const run = async <A>(effect: Effect.Effect<A>) => {
    const told = effect.pipe(
      Effect.map(Either.right),
      Effect.catchAllCause((cause) => Effect.map(failureOf(cause), ({ message }) => Either.left(message)))
    )
    return Either.getOrThrowWith(await runPromise(told), (message) => new Error(message))
  }

  const absent = () => Effect.succeed(undefined)

  return (caller: Actor) => ({
    list: () =>
      run(Effect.map(listings.best, (best) => [
        ...own,
        ...best.map((file) => ({ uri: listingUri(file.frontmatter.name), file }))
      ])),
    find: async (uri, isRead) => {
      const [, kind, name] = skillUri.exec(uri) ?? []
      if (name === undefined) return own.find((skill) => skill.uri === uri)?.file
      return kind === "composites"
        ? run(Effect.catchTag(composites.strict(caller, name), "CompositeNotFound", absent))
        : run(Effect.catchTag(listings.strict(name, isRead), "ListingNotFound", absent))
    },
    isPrivate: (uri) => skillUri.exec(uri)?.[1] === "composites",
    resources: () => own,
    templates: [
      {
        uriTemplate: listingUri("{slug}"),
        name: "listing",
        description: "A listing of the directory as a skill, by its businessSlug"
      },
      {
        uriTemplate: compositeUri("{name}"),
        name: "composite",
        description: "A composite as a skill, by its slug or id: a public one with a hub key, or the account's own"
      }
    ]
  } satisfies ServedSkills)
})
