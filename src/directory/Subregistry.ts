import { CurrentSettings } from "#src/config/Settings.ts"
import { isBlank } from "#src/format/blank.ts"
import { mcpUrl, registryNamespace, sseUrl } from "#src/servers/addresses.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { decodeCursor, encodeCursor } from "#src/shared/paging.ts"
import { Effect, Option } from "effect"
import { PublicListingsRepo, type Served } from "./PublicListingsRepo.ts"
import { description, type RegistryEntry, type RegistryQuery, title, UnknownRegistryServer } from "./RegistryEntry.ts"
import { versionOf } from "./ServerMetadata.ts"

const schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

/** The number of a deployment from its version; undefined when the version can't exist. */
const numberOf = (version: string) => {
  const [, number] = /^(\d{1,9})\.0\.0$/.exec(version) ?? []
  return number === undefined ? undefined : Number(number)
}

type NameFilter = { readonly part?: string; readonly begin?: string } | undefined

/**
 * The name filter of a search. The registry searches names for a part, whatever its case. Here all names have the same
 * namespace, with which a search for `mcp` or `com` would find every server: so the namespace counts only when the part
 * contains a slash. The business's name, an entry's title, is searched too. Undefined: no name has that part.
 */
const nameFilter = (namespace: string, search: string): NameFilter => {
  const text = search.trim().toLowerCase()
  if (isBlank(text)) return {}
  const slash = text.indexOf("/")
  if (slash === -1) return { part: text }
  return namespace.endsWith(text.slice(0, slash)) ? { begin: text.slice(slash + 1) } : undefined
}

/** The directory as an MCP registry: active listings whose server was deployed, by the server's name. */
export class Subregistry extends Effect.Service<Subregistry>()("directory/Subregistry", {
  effect: Effect.gen(function*() {
    const repo = yield* PublicListingsRepo
    const settings = yield* CurrentSettings
    const namespace = registryNamespace(settings)

    const view = (row: Served): RegistryEntry => ({
      server: {
        $schema: schema,
        name: `${namespace}/${row.serverSlug}`,
        title: title(row.name),
        description: description(row.description.trim() === "" ? row.name : row.description),
        version: versionOf(row),
        ...(row.website === "" ? {} : { websiteUrl: row.website }),
        remotes: [
          { type: "streamable-http", url: mcpUrl(settings, row.serverSlug) },
          { type: "sse", url: sseUrl(settings, row.serverSlug) }
        ]
      },
      _meta: {
        "io.modelcontextprotocol.registry/official": {
          status: "active",
          publishedAt: row.publishedAt ?? row.updatedAt,
          updatedAt: row.updatedAt,
          isLatest: true
        }
      }
    })

    const list = Effect.fn("Subregistry.list")(function*(query: RegistryQuery) {
      const { limit, updated_since: updatedSince, version } = query
      const number = version === undefined || version === "latest" ? undefined : numberOf(version)
      const search = nameFilter(namespace, query.search ?? "")
      const name = `registry ${JSON.stringify([search, updatedSince, number])}`
      const after = query.cursor === undefined ? undefined : yield* decodeCursor(name, query.cursor, isLabel)
      const noSuchVersion = version !== undefined && version !== "latest" && number === undefined
      if (noSuchVersion || search === undefined) return { servers: [], metadata: { count: 0 } }
      const rows = yield* repo.registry({
        after,
        part: search.part,
        begin: search.begin,
        updatedSince,
        version: number,
        count: limit + 1
      })
      const servers = rows.slice(0, limit).map(view)
      const last = rows.length > limit ? rows[limit - 1] : undefined
      const next = last === undefined ? {} : { nextCursor: encodeCursor(name, last.serverSlug) }
      return { servers, metadata: { count: servers.length, ...next } }
    })

    /** Of a server that was deployed. */
    const ofServer = Effect.fn("Subregistry.ofServer")(function*(slug: string) {
      const row = yield* repo.ofServer(slug)
      return Option.map(Option.filter(row, ({ version }) => version !== null), view)
    })

    const find = Effect.fn("Subregistry.find")(function*(name: string) {
      const slug = name.startsWith(`${namespace}/`) ? name.slice(namespace.length + 1) : ""
      const entry = isLabel(slug) ? yield* ofServer(slug) : Option.none()
      return Option.isNone(entry) ? yield* new UnknownRegistryServer() : entry.value
    })

    /** Only the active version is listed. */
    const versions = (name: string) => Effect.map(find(name), (entry) => ({ servers: [entry], metadata: { count: 1 } }))

    const version = Effect.fn("Subregistry.version")(function*(name: string, version: string) {
      const entry = yield* find(name)
      return version === "latest" || version === entry.server.version ? entry : yield* new UnknownRegistryServer()
    })

    return { list, versions, version, ofServer } as const
  })
}) {}
