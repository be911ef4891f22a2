import { type ServedSkills } from "#src/format/skills-over-mcp.ts"
import { ListingSkills } from "#src/hub/ListingSkills.ts"
import { platformSkills } from "#src/hub/platform-skills.ts"
import { Effect, Either, Runtime } from "effect"
import { failureOf } from "./failures.ts"

const listingUri = (slug: string) => `skill://listings/${slug}/SKILL.md`
const slugIn = (uri: string) => /^skill:\/\/listings\/([^/]+)\/SKILL\.md$/.exec(uri)?.[1]

const own = platformSkills.map((file) => ({ uri: `skill://berth/${file.frontmatter.name}/SKILL.md`, file }))

/**
 * The platform's own skills, and those of listings: skills/list names the best, skills/get and resources/read find
 * every one. Reading a listing's counts as a click, as it does over HTTP; listing them does not.
 */
export const doorSkills = Effect.gen(function*() {
  const listings = yield* ListingSkills
  const runPromise = Runtime.runPromise(yield* Effect.runtime<never>())
  /** What went wrong inside stays inside. */
  const run = async <A>(effect: Effect.Effect<A>) => {
    const told = effect.pipe(
      Effect.map(Either.right),
      Effect.catchAllCause((cause) => Effect.map(failureOf(cause), ({ message }) => Either.left(message)))
    )
    return Either.getOrThrowWith(await runPromise(told), (message) => new Error(message))
  }

  return {
    list: () =>
      run(Effect.map(listings.best, (best) => [
        ...own,
        ...best.map((file) => ({ uri: listingUri(file.frontmatter.name), file }))
      ])),
    find: async (uri, isRead) => {
      const slug = slugIn(uri)
      return slug === undefined
        ? own.find((skill) => skill.uri === uri)?.file
        : run(Effect.catchTag(listings.strict(slug, isRead), "ListingNotFound", () => Effect.succeed(undefined)))
    },
    resources: () => own,
    templates: [{
      uriTemplate: listingUri("{slug}"),
      name: "listing",
      description: "A listing of the directory as a skill, by its businessSlug"
    }]
  } satisfies ServedSkills
})
