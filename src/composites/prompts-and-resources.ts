import {
  type McpFeatures,
  type McpPrompt,
  type McpResource,
  type McpResourceTemplate
} from "#src/servers/McpFeatures.ts"
import { matchesTemplate, uriTemplate } from "#src/shared/uri-template.ts"
import { memberName } from "./tool-names.ts"

/** What a member offers besides tools. `owner`: its name on one line, since it stands in others' words. */
interface Owned {
  readonly slug: string
  readonly owner: string
  readonly features: Pick<McpFeatures, "prompts" | "resources" | "templates">
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

export interface NamedTemplate {
  readonly slug: string
  readonly template: McpResourceTemplate
}

export const promptsOf = (members: ReadonlyArray<Owned>): ReadonlyArray<NamedPrompt> =>
  members.flatMap(({ features, owner, slug }) =>
    features.prompts.map((prompt) => ({
      name: memberName(slug, prompt.name),
      slug,
      prompt: { ...prompt, description: `${owner}: ${prompt.description}` }
    }))
  )

const told = <A extends { readonly name: string; readonly title?: string }>(owner: string, one: A): A => ({
  ...one,
  // Clients show the title or the name, and every restaurant has a "Menu".
  name: `${owner}: ${one.name}`,
  ...(one.title === undefined ? {} : { title: `${owner}: ${one.title}` })
})

/** By URI as `uriOf` has it, mostly as it is: of two members with one URI the better ranked has it. */
export const resourcesOf = (
  members: ReadonlyArray<Owned>,
  uriOf: (slug: string, uri: string) => string
): ReadonlyMap<string, NamedResource> => {
  const resources = new Map<string, NamedResource>()
  for (const { features, owner, slug } of members) {
    for (const listed of features.resources) {
      const uri = uriOf(slug, listed.uri)
      if (!resources.has(uri)) resources.set(uri, { slug, resource: { ...told(owner, listed), uri } })
    }
  }
  return resources
}

/** Of a composite: so many are looked through for each URI that nobody lists. Each member has its share of them. */
const mostTemplates = 100

/** A template without one claims the URIs of everybody, such as files of the caller. */
const hasScheme = ({ uriTemplate }: McpResourceTemplate) => /^[a-z][a-z\d+.-]*:/i.test(uriTemplate)

/** By their text, which stays as it is, too: of two members with one template the better ranked has it. */
export const templatesOf = (members: ReadonlyArray<Owned>): ReadonlyArray<NamedTemplate> => {
  const templates = new Map<string, NamedTemplate>()
  const having = members.filter(({ features }) => features.templates.length > 0).slice(0, mostTemplates)
  for (const { features, owner, slug } of having) {
    const own = features.templates.filter((one) => hasScheme(one) && !templates.has(one.uriTemplate))
    for (const template of own.slice(0, Math.floor(mostTemplates / having.length))) {
      templates.set(template.uriTemplate, { slug, template: told(owner, template) })
    }
  }
  return [...templates.values()]
}

/** Whose template a URI is of: the better ranked's of those that fit, as for a URI that two members list. */
export const templateOwner = (templates: ReadonlyArray<NamedTemplate>, uri: string): string | undefined =>
  templates.find(({ template }) => {
    const parsed = uriTemplate(template.uriTemplate)
    return parsed !== undefined && matchesTemplate(parsed, uri)
  })?.slug
