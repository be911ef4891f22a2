import { type McpFeatures, type McpPrompt, type McpResource } from "#src/servers/McpFeatures.ts"
import { memberName } from "./tool-names.ts"

/** What a member offers besides tools. `owner`: its name on one line, since it stands in others' words. */
interface Owned {
  readonly slug: string
  readonly owner: string
  readonly features: Pick<McpFeatures, "prompts" | "resources">
}

export interface NamedPrompt {
  readonly name: string
  readonly slug: string
  /** As its member calls it, in words that tell whose it is. */
  readonly prompt: McpPrompt
}

export interface NamedResource {
  readonly slug: string
  readonly resource: McpResource
}

export const promptsOf = (members: ReadonlyArray<Owned>): ReadonlyArray<NamedPrompt> =>
  members.flatMap(({ features, owner, slug }) =>
    features.prompts.map((prompt) => ({
      name: memberName(slug, prompt.name),
      slug,
      prompt: { ...prompt, description: `${owner}: ${prompt.description}` }
    }))
  )

const told = (owner: string, { name, title, ...resource }: McpResource): McpResource => ({
  ...resource,
  // Clients show the title or the name, and every restaurant has a "Menu".
  name: `${owner}: ${name}`,
  ...(title === undefined ? {} : { title: `${owner}: ${title}` })
})

/** By URI, which stays as it is: of two members with one URI the better ranked has it. */
export const resourcesOf = (members: ReadonlyArray<Owned>): ReadonlyMap<string, NamedResource> => {
  const resources = new Map<string, NamedResource>()
  for (const { features, owner, slug } of members) {
    for (const resource of features.resources) {
      if (!resources.has(resource.uri)) resources.set(resource.uri, { slug, resource: told(owner, resource) })
    }
  }
  return resources
}
