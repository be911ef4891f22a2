import { ended } from "#src/format/ended.ts"
import { type McpFeatures, type McpToolDefinition } from "#src/servers/McpFeatures.ts"
import { lineOf } from "#src/shared/outside-text.ts"
import { type JsonSchema, reachOf, sameArguments, takesBusinesses, withBusinesses } from "./input-schema.ts"
import {
  type NamedPrompt,
  type NamedResource,
  type NamedTemplate,
  promptsOf,
  resourcesOf,
  templatesOf
} from "./prompts-and-resources.ts"
import { type Copy, outputOf, spokesman } from "./shared-words.ts"
import { memberName, mergedName, prefixEnd } from "./tool-names.ts"
import { hasView, isForViews, type View, type Views, viewsOf } from "./views.ts"

/** A member that can be called, as far as its tools are concerned. */
export interface Offering {
  readonly slug: string
  readonly name: string
  readonly features: McpFeatures
}

/** Hints with their meaning spelled out (MCP 2025-11-25, ToolAnnotations). */
export interface Hints {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

interface CompositeTool {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly annotations: Hints
  /** Whether each member marks it as state-changing itself, so that none refuses who may change things alone. */
  readonly isMarked: boolean
  /** What the members call it. */
  readonly tool: string
  /** Of one member's answer, where they all have the same. */
  readonly memberOutput: JsonSchema | undefined
  /** Of one member's tool alone. */
  readonly _meta?: Readonly<Record<string, unknown>>
  /** Only a member's view calls it: it is not listed. */
  readonly isForViews: boolean
}

/** One tool for members that have it alike. `slugs`: best ranked first. */
export interface MergedTool extends CompositeTool {
  readonly kind: "merged"
  readonly slugs: ReadonlyArray<string>
}

/** A tool of one member. */
export interface MemberTool extends CompositeTool {
  readonly kind: "member"
  readonly slug: string
}

export type AnyTool = MergedTool | MemberTool

/** A name that two claim: neither has it, since a caller could not tell whom it reaches. */
export interface Clash {
  readonly name: string
  /** Who claims it, as `slug: tool`. */
  readonly claims: ReadonlyArray<string>
  /** Whether the claimants are there under names of their own, `{slug}__{tool}`; else they are left out. */
  readonly isPrefixed: boolean
}

export interface Merged {
  readonly tools: ReadonlyArray<AnyTool>
  readonly prompts: ReadonlyArray<NamedPrompt>
  /** By URI; of two members with one URI the better ranked has it. */
  readonly resources: ReadonlyMap<string, NamedResource>
  readonly templates: ReadonlyArray<NamedTemplate>
  /** Resources that show tools' results, also those that nobody lists, by URI. */
  readonly views: ReadonlyMap<string, View>
  readonly clashes: ReadonlyArray<Clash>
}

const all = (copies: ReadonlyArray<Copy>, hint: keyof Hints) =>
  copies.every(({ tool }) => tool.annotations?.[hint] === true)
const noneDenies = (copies: ReadonlyArray<Copy>, hint: keyof Hints) =>
  copies.some(({ tool }) => tool.annotations?.[hint] !== false)

/**
 * Only ever weakened: harmless if every copy says so, dangerous if one is or does not say. What is not said is the
 * protocol's default.
 */
const weakestHints = (copies: ReadonlyArray<Copy>): Hints => {
  const readOnlyHint = all(copies, "readOnlyHint")
  return {
    readOnlyHint,
    destructiveHint: copies.some(({ tool }) =>
      tool.annotations?.["destructiveHint"] === true ||
      tool.annotations?.["readOnlyHint"] !== true && tool.annotations?.["destructiveHint"] !== false
    ),
    idempotentHint: all(copies, "idempotentHint"),
    openWorldHint: noneDenies(copies, "openWorldHint")
  }
}

const groupBy = <A>(list: ReadonlyArray<A>, keyOf: (one: A) => string) => {
  const groups = new Map<string, Array<A>>()
  for (const one of list) groups.set(keyOf(one), [...groups.get(keyOf(one)) ?? [], one])
  return groups
}

const common = (copies: ReadonlyArray<Copy>, { name, outputSchema: _, title, ...first }: McpToolDefinition) => ({
  ...(title === undefined ? {} : { title }),
  description: first.description,
  annotations: weakestHints(copies),
  isMarked: copies.every(({ tool }) => tool.annotations?.["readOnlyHint"] === false),
  tool: name,
  memberOutput: outputOf(copies),
  isForViews: copies.every(({ tool }) => isForViews(tool))
})

const merged = (copies: ReadonlyArray<Copy>): MergedTool => {
  const tool = spokesman(copies)
  const slugs = copies.map(({ slug }) => slug)
  return {
    kind: "merged",
    ...common(copies, tool),
    name: mergedName(tool.name),
    inputSchema: withBusinesses(tool.inputSchema, slugs),
    description: `${ended(tool.description)} Asks ${
      reachOf(slugs.length)
    } businesses in one call; each answers for itself.`
      .trim(),
    slugs
  }
}

const alone = ({ metaOf }: Views) => (copy: Copy): MemberTool => {
  const meta = metaOf(copy.slug, copy.tool)
  return {
    kind: "member",
    ...common([copy], copy.tool),
    description: `${copy.owner}: ${copy.tool.description}`,
    name: memberName(copy.slug, copy.tool.name),
    inputSchema: copy.tool.inputSchema,
    slug: copy.slug,
    ...(meta === undefined ? {} : { _meta: meta })
  }
}

const claimsOf = (tool: AnyTool) =>
  tool.kind === "merged" ? tool.slugs.map((slug) => `${slug}: ${tool.tool}`) : [`${tool.slug}: ${tool.tool}`]

const ourselves = "the composite itself"

/** Without those whose name another claims, or that is one of ours (`reserved`). */
const distinct = <A>(
  list: ReadonlyArray<A>,
  nameOf: (one: A) => string,
  claims: (one: A) => ReadonlyArray<string>,
  reserved: ReadonlySet<string>
) => {
  const byName = [...groupBy(list, nameOf)]
  const isClear = ([name, claimants]: readonly [string, ReadonlyArray<A>]) =>
    claimants.length === 1 && !reserved.has(name)
  return {
    kept: byName.filter(isClear).flatMap(([, claimants]) => claimants),
    clashes: byName.filter((entry) => !isClear(entry)).map(([name, claimants]): Clash => ({
      name,
      claims: [...reserved.has(name) ? [ourselves] : [], ...claimants.flatMap(claims)],
      isPrefixed: false
    }))
  }
}

/**
 * The tools of a composite's members, `offerings` best ranked first. Members made from one template have the same tools:
 * copies that agree in name and arguments are one tool. What is left over has its member's slug before it, from the
 * first member on, so that names don't change when another joins. `reserved` are names of our own tools.
 */
export const merge = (offerings: ReadonlyArray<Offering>, reserved: ReadonlySet<string>): Merged => {
  const members = offerings.map(({ name, ...one }) => ({ ...one, owner: lineOf(name, 200) }))
  const copies = members.flatMap(({ features, owner, slug }) =>
    features.tools.map((tool): Copy => ({ slug, owner, tool }))
  )
  const views = viewsOf(members)
  const groups = [
    ...groupBy(copies, ({ tool }) => JSON.stringify([tool.name, sameArguments(tool.inputSchema)])).values()
  ]
  // A name with a slug before it is its member's: others could claim it together, and both would be dropped.
  const isShared = (group: ReadonlyArray<Copy>) =>
    group.length > 1 && takesBusinesses(group[0]!.tool.inputSchema) && !group[0]!.tool.name.includes(prefixEnd) &&
    !group.some(({ tool }) => hasView(tool) || isForViews(tool))
  const shared = distinct(
    groups.filter(isShared).map(merged),
    ({ name }) => name,
    claimsOf,
    reserved
  )
  const isMerged = new Set(shared.kept.map(({ tool }) => tool))
  const tools = groups.flatMap((group): ReadonlyArray<AnyTool> =>
    isShared(group) && isMerged.has(group[0]!.tool.name) ? [merged(group)] : group.map(alone(views))
  )
  const named = distinct(tools, ({ name }) => name, claimsOf, reserved)

  const namedPrompts = distinct(
    promptsOf(members),
    ({ name }) => name,
    ({ prompt, slug }) => [`${slug}: ${prompt.name}`],
    new Set()
  )

  const clashes = [
    ...shared.clashes.map((clash) => ({ ...clash, isPrefixed: true })),
    ...named.clashes,
    ...namedPrompts.clashes
  ]
  return {
    tools: named.kept,
    prompts: namedPrompts.kept,
    resources: resourcesOf(members, views.uriOf),
    templates: templatesOf(members),
    views: views.byUri,
    clashes
  }
}
