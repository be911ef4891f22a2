import { Predicate } from "effect"

const longestCursor = 4_096

/**
 * Reads a list of somebody's server page by page (MCP 2025-11-25, Pagination), within bounds of bytes and, by `take`,
 * which says whether to go on, of entries. Resolves to whether the list has ended: else it goes on, or names a page twice.
 */
export const readPages = async <Page>(
  read: (params: { readonly cursor?: string }) => Promise<Page>,
  take: (page: Page) => boolean,
  mostBytes: number
): Promise<boolean> => {
  const seen = new Set<string>()
  let bytes = 0
  let params: Parameters<typeof read>[0] = {}
  for (;;) {
    const page = await read(params)
    bytes += JSON.stringify(page ?? null).length
    if (!take(page)) return false
    const cursor = Predicate.isRecord(page) ? page["nextCursor"] : undefined
    if (typeof cursor !== "string") return true
    if (bytes > mostBytes || cursor.length > longestCursor || seen.has(cursor)) return false
    seen.add(cursor)
    params = { cursor }
  }
}
