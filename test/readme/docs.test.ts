import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { describe, expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")
const read = (file: string) => readFileSync(join(root, file), "utf8")
const filesIn = (...folders: ReadonlyArray<string>) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file))
  )
const pages = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "test/bench/README.md"],
  ...filesIn("docs").filter((file) => file.endsWith(".md"))
]
const sources = filesIn("src", "http", "tools", "sql", "scripts", "test")
  .filter((file) => /\.(ts|js)$/.test(file) && !file.includes("node_modules"))

/** As GitHub makes them of headings. */
const anchorsOf = (page: string) =>
  new Set(
    [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").trim().replaceAll(/\s/g, "-")
    )
  )

/** What is wrong with a link on a page, or undefined. */
const broken = (page: string, link: string) => {
  const [path = "", anchor] = link.split("#", 2)
  const target = path === "" ? page : relative(root, join(root, dirname(page), path))
  if (!existsSync(join(root, target))) return `${page}: ${link} leads nowhere`
  return anchor === undefined || anchorsOf(target).has(anchor) ? undefined : `${page}: ${link} names no heading`
}

describe("the documentation", () => {
  it("has links that lead somewhere", () => {
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => [page, link] as const)
    ).filter(([, link]) => !/^https?:/.test(link))
    expect(links.length).toBeGreaterThan(50)
    expect(links.flatMap(([page, link]) => broken(page, link) ?? [])).toEqual([])
  })

  it("is there where a comment says so", () => {
    const named = sources.flatMap((file) =>
      [...read(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([page]) => [file, page] as const)
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter(([, page]) => !existsSync(join(root, page)))).toEqual([])
  })

  it("has every decision in its index", () => {
    const decisions = pages.filter((page) => /^docs\/decisions\/(?!README)/.test(page))
    const index = read("docs/decisions/README.md")
    expect(decisions.length).toBeGreaterThan(15)
    expect(decisions.filter((page) => !index.includes(`](${page.split("/").at(-1)})`))).toEqual([])
  })

  it("says what each room and floor is for", () => {
    const rules = read(".dependency-cruiser.cjs")
    const names = (list: string) => {
      const [, items = ""] = new RegExp(`const ${list} = \\[([^\\]]*)\\]`).exec(rules) ?? []
      return [...items.matchAll(/"([\w-]+)"/g)].map(([, name]) => `| \`${name}\` |`)
    }
    const rows = [...names("rooms"), ...names("floors")]
    expect(rows.length).toBeGreaterThan(25)
    const page = read("docs/architecture.md")
    expect(rows.filter((row) => !page.includes(row))).toEqual([])
    expect(rows.map((row) => page.indexOf(row))).toEqual(rows.map((row) => page.indexOf(row)).sort((a, b) => a - b))
  })

  it("has a row for each setting", () => {
    const settings = [...read("src/config/Settings.ts").matchAll(/\bsetting(?:s|Or)?\("(\w+)"/g)].map(([, name]) =>
      name
    )
    expect(settings.length).toBeGreaterThan(20)
    const page = read("docs/operate.md")
    expect(settings.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })
})
