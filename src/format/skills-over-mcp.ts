import { invalid, type Methods, onePage } from "./served-mcp.ts"
import { type SkillFile } from "./skill-file.ts"

/** A skill and the URI of its SKILL.md, whose last part before the file is the skill's name. */
export interface ServedSkill {
  readonly uri: string
  readonly file: SkillFile
}

/** The skills of a server (SEP-2640). */
export interface ServedSkills {
  /** What skills/list tells; a server may leave out what skills/get finds. */
  readonly list: () => Promise<ReadonlyArray<ServedSkill>>
  /** `isRead`: its text is wanted, not its description. */
  readonly find: (uri: string, isRead: boolean) => Promise<SkillFile | undefined>
  /** Whether the answer depends on the caller and the moment; no skill does by default. */
  readonly isPrivate?: (uri: string) => boolean
  /** What resources/list tells. */
  readonly resources: () => ReadonlyArray<ServedSkill>
  readonly templates: ReadonlyArray<
    { readonly uriTemplate: string; readonly name: string; readonly description: string }
  >
}

/** SEP-2640, Capability Negotiation: a server that has skills has resources. */
export const skillCapabilities = {
  resources: {},
  extensions: { "io.modelcontextprotocol/skills": {} }
} as const

const mimeType = "text/markdown"

/** SEP-2549: how long an answer may be kept, and that it is the same for every caller. */
const caching = { ttlMs: 60_000, cacheScope: "public" } as const
const noCaching = { ttlMs: 0, cacheScope: "private" } as const

const entryOf = ({ file: { digest, frontmatter, size }, uri }: ServedSkill) => ({
  uri,
  frontmatter,
  resources: [{ uri, digest, size }]
})

const quoted = (uri: string) => JSON.stringify(uri.length > 200 ? `${uri.slice(0, 200).toWellFormed()}…` : uri)

/** The methods of SEP-2640, and those of resources, with the same skills. */
export const skillMethods = ({ find, isPrivate, list, resources, templates }: ServedSkills) => {
  const found = async (uri: string, isRead: boolean) => {
    const file = await find(uri, isRead)
    if (file !== undefined) return file
    // SEP-2640, Error Handling, for skills/get and for resources/read alike; SEP-2164 has the URI beside it.
    throw invalid(`There is no skill at ${quoted(uri)}; skills/list names those that are here`, { uri })
  }

  return {
    "resources/list": () => ({
      resources: resources().map(({ file: { frontmatter, size }, uri }) => ({
        uri,
        name: frontmatter.name,
        description: frontmatter.description,
        mimeType,
        size
      }))
    }),
    "resources/templates/list": () => ({
      resourceTemplates: templates.map((template) => ({ ...template, mimeType }))
    }),
    "resources/read": async ({ uri }) => ({ contents: [{ uri, mimeType, text: (await found(uri, true)).text }] }),
    extensions: {
      "skills/list": async ({ cursor }) => {
        if (cursor !== undefined) throw invalid(onePage)
        return { resultType: "complete", skills: (await list()).map(entryOf), ...caching }
      },
      "skills/get": async ({ uri }) => {
        if (typeof uri !== "string") throw invalid("params.uri must be the URI of a SKILL.md")
        const skill = entryOf({ uri, file: await found(uri, false) })
        return { resultType: "complete", skill, ...(isPrivate?.(uri) === true ? noCaching : caching) }
      }
    }
  } satisfies Methods
}
