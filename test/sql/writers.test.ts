import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { type Sources, sqlWritesIn } from "../support/sql-writes.ts"

/**
 * Who writes which table: one folder of src/ each, so that the rules of its rows are found in one place. What other
 * rooms want of a row they ask that room's service for.
 */
const writers: Readonly<Record<string, string>> = {}

const sourcesOf = (top: string): Sources =>
  Object.fromEntries(
    readdirSync(top, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => [`${top}/${path}`, readFileSync(`${top}/${path}`, "utf8")])
  )

/** The workflow library keeps its own tables. */
const isLibrarys = (table: string) => table.startsWith("cluster_")

const folderOf = (file: string) => file.split("/")[1] ?? ""

/** `table: folder, folder` for each table. */
const writersIn = (sources: Sources) => {
  const found = new Map<string, Set<string>>()
  for (const { file, table } of sqlWritesIn(sources)) {
    if (!isLibrarys(table)) found.set(table, (found.get(table) ?? new Set()).add(folderOf(file)))
  }
  return Object.fromEntries([...found].map(([table, folders]) => [table, [...folders].sort().join(", ")]))
}

describe("a table", () => {
  const sources = sourcesOf("src")

  it("is written by one folder of src/", () => {
    expect(writersIn(sources)).toEqual(writers)
  })
})
