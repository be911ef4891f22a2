import { type McpFeatures, type McpToolDefinition } from "#src/servers/McpFeatures.ts"
import { Predicate } from "effect"
import { prefixEnd } from "./tool-names.ts"

/*
 * MCP Apps (SEP-1865): a tool's `_meta` names the resource in which a host shows its results, and `visibility` says
 * whether the model or only that view calls it. Hosts that came before have keys of their own.
 */

type Meta = Readonly<Record<string, unknown>>
type Tool = Pick<McpToolDefinition, "_meta">

interface Viewed {
  readonly slug: string
  readonly features: Pick<McpFeatures, "tools" | "resources">
}

/** Whose view a URI of the composite is, and what its member calls it. */
export interface View {
  readonly slug: string
  readonly uri: string
}

const scheme = "ui://"
const olderKeys = ["ui/resourceUri", "openai/outputTemplate"]

const isView = (uri: unknown): uri is string => typeof uri === "string" && uri.startsWith(scheme)
const uiOf = ({ _meta }: Tool): Meta => Predicate.isRecord(_meta?.["ui"]) ? _meta["ui"] : {}

const viewsIn = (tool: Tool): ReadonlyArray<string> =>
  [uiOf(tool)["resourceUri"], ...olderKeys.map((key) => tool._meta?.[key])].filter(isView)

/** A view shows the result of one member: its tool is not asked of several at once. */
export const hasView = (tool: Tool) => viewsIn(tool).length > 0

/** Only its view calls it: models don't see it. */
export const isForViews = (tool: Tool) => {
  const { visibility } = uiOf(tool)
  return Array.isArray(visibility) && visibility.includes("app") && !visibility.includes("model")
}

/**
 * The views of a composite's members. A URI that one member alone has stays as it is; of several that have it each has
 * its slug in it, so that none shows what is another's.
 */
export const viewsOf = (members: ReadonlyArray<Viewed>) => {
  const claims = new Map<string, Set<string>>()
  for (const { features, slug } of members) {
    const listed = features.resources.map(({ uri }) => uri).filter(isView)
    for (const uri of [...listed, ...features.tools.flatMap(viewsIn)]) {
      claims.set(uri, (claims.get(uri) ?? new Set()).add(slug))
    }
  }
  const named = (slug: string, uri: string) =>
    claims.get(uri)?.size === 1 && !uri.includes(prefixEnd)
      ? uri
      : `${scheme}${slug}${prefixEnd}${uri.slice(scheme.length)}`
  const uriOf = <A>(slug: string, uri: A) => isView(uri) ? named(slug, uri) : uri
  return {
    byUri: new Map<string, View>(
      [...claims].flatMap(([uri, slugs]) => [...slugs].map((slug) => [named(slug, uri), { slug, uri }] as const))
    ),
    /** A URI of a member as the composite has it. */
    uriOf,
    /** A tool's `_meta` as the composite has it. */
    metaOf: (slug: string, { _meta }: Tool): Meta | undefined =>
      _meta && Object.fromEntries(
        Object.entries(_meta).map(([key, value]) => [
          key,
          key === "ui" && Predicate.isRecord(value) && "resourceUri" in value
            ? { ...value, resourceUri: uriOf(slug, value["resourceUri"]) }
            : olderKeys.includes(key)
            ? uriOf(slug, value)
            : value
        ])
      )
  }
}
export type Views = ReturnType<typeof viewsOf>
