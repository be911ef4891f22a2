import type pg from "pg"

interface Node {
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Plans"?: ReadonlyArray<Node>
  readonly "Shared Hit Blocks"?: number
  readonly "Shared Read Blocks"?: number
}

const rowsOf = (node: Node): number =>
  node["Actual Rows"] * node["Actual Loops"] + (node.Plans ?? []).reduce((sum, plan) => sum + rowsOf(plan), 0)

/** Rows that the steps of a statement's plan hand on, and pages that they look at: the same on a busy machine. */
export const readBy = async (client: pg.ClientBase, text: string, values: ReadonlyArray<unknown>) => {
  const { rows: [{ "QUERY PLAN": [{ Plan: plan }] }] } = await client.query(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
    [...values]
  ) as unknown as { readonly rows: readonly [{ readonly "QUERY PLAN": readonly [{ readonly Plan: Node }] }] }
  return { rows: rowsOf(plan), pages: (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0) }
}
