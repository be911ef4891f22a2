import { CurrentSettings } from "#src/config/Settings.ts"
import { isSkillName, type SkillFile } from "#src/format/skill-file.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Effect, Schema } from "effect"
import { ListingSkills } from "./ListingSkills.ts"
import { platformSkills } from "./platform-skills.ts"

/** Agent Skills discovery has had two forms, below two paths; clients know one or the other. */
export const skillFolders = ["agent-skills", "skills"] as const
export type SkillFolder = typeof skillFolders[number]

export class SkillNotFound extends Schema.TaggedError<SkillNotFound>()("SkillNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such skill; index.json beside it names those that are here"
  }
}

const schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

/**
 * An index that is valid in both forms: `type`, `url` and `digest` are of version 0.2.0, `files` is of 0.1.0. A client
 * of the older form drops the whole index for one bad entry, so what could be one is left out.
 */
const indexOf = (base: string, files: ReadonlyArray<SkillFile>) => ({
  $schema: schema,
  skills: files.filter(({ frontmatter }) => isSkillName(frontmatter.name)).map(({ digest, frontmatter }) => ({
    name: frontmatter.name,
    type: "skill-md",
    description: frontmatter.description,
    url: `${base}/${frontmatter.name}/SKILL.md`,
    digest,
    files: ["SKILL.md"]
  }))
})

/** Skills as the Agent Skills clients find and install them, from the root or from a listing's own address. */
export class SkillIndex extends Effect.Service<SkillIndex>()("hub/SkillIndex", {
  effect: Effect.gen(function*() {
    const listings = yield* ListingSkills
    const { hubUrl } = yield* CurrentSettings
    const own = new Map(platformSkills.map((file) => [file.frontmatter.name, file]))

    /** The platform's own skills and the best listings. A listing of the name of one of ours has its own index only. */
    const all = Effect.map(listings.best, (best) => [
      ...platformSkills,
      ...best.filter(({ frontmatter }) => !own.has(frontmatter.name))
    ])

    const root = (folder: SkillFolder) => Effect.map(all, (files) => indexOf(`${hubUrl}/.well-known/${folder}`, files))

    const ofListing = Effect.fn("SkillIndex.ofListing")(function*(slug: string, folder: SkillFolder) {
      const file = yield* listings.strict(slug)
      return indexOf(`${hubUrl}/l/${slug}/.well-known/${folder}`, [file])
    })

    /** Every active listing has its file at the root, also those that the index does not name. */
    const file = (name: string) => {
      const mine = own.get(name)
      return mine === undefined
        ? Effect.mapError(listings.strict(name), () => new SkillNotFound())
        : Effect.succeed(mine)
    }

    const fileOfListing = (slug: string, name: string) =>
      name === slug
        ? Effect.mapError(listings.strict(slug), () => new SkillNotFound())
        : Effect.fail(new SkillNotFound())

    return { root, ofListing, file, fileOfListing } as const
  })
}) {}
