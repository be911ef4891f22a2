import { optionsOf } from "#src/cli/command.ts"
import { commands } from "#src/cli/root.ts"
import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { temporaryDirectory } from "../support/Settings.ts"
import { berthCli } from "./mcp/run.ts"

const config = temporaryDirectory("json")
const variables = { XDG_CONFIG_HOME: config, BERTH_URL: "http://127.0.0.1:1" }

/** Each command by its words, those that have others below them left out. */
const all = (await Promise.all(
  Object.entries(commands).map(async ([name, { load }]) => {
    const { children, descriptor } = await load()
    return children.size === 0
      ? [{ words: [name], descriptor }]
      : [...children].map(([child, descriptor]) => ({ words: [name, child], descriptor }))
  })
)).flat()

const optionNames = (descriptor: typeof all[number]["descriptor"]) =>
  optionsOf(descriptor).flatMap(({ names }) => names)

describe("--json", () => {
  it("is an option of every command, and never takes a value", () => {
    const without = all.filter(({ descriptor }) =>
      !optionsOf(descriptor).some(({ names, takesValue }) => names.includes("--json") && !takesValue)
    )
    expect(without.map(({ words }) => words.join(" "))).toEqual([])
    expect(all.length).toBeGreaterThan(28)
  })

  it.each(all.map(({ words }) => words.join(" ")))("of berth %s makes its mistakes documents too", async (name) => {
    const { code, err, out } = await berthCli([...name.split(" "), "--jsn", "--json"], variables)
    expect([code, out]).toEqual([1, ""])
    const message = `berth ${name} has no option --jsn. Did you mean "--json"?\n\nSee berth ${name} --help`
    expect(JSON.parse(err)).toEqual({ error: { code: "FAILED", message, exitCode: 1 } })
  })

  it.each<[string, ReadonlyArray<string>, string, number]>([
    ["a command that there is not", ["serverz", "--json"], "FAILED", 1],
    ["an argument that is missing", ["call", "--json"], "FAILED", 1],
    ["nobody logged in", ["servers", "--json"], "NOT_LET_IN", 3],
    ["no file", ["publish", "/nowhere/menu.csv", "--json"], "BAD_FILE", 2],
    ["no berth.toml", ["deploy", "--config", "/nowhere/berth.toml", "--json"], "BAD_FILE", 2],
    ["no answer to tools", ["tools", "http://127.0.0.1:1/mcp", "--json"], "NO_ANSWER", 6],
    ["no answer to call", ["call", "http://127.0.0.1:1/mcp", "x", "--json"], "NO_ANSWER", 6],
    ["no answer to login", ["login", "--email", "a@b.example", "--password", "x", "--json"], "NO_ANSWER", 6],
    ["no answer to a command of servers", ["servers", "--token", "x", "--json"], "NO_ANSWER", 6]
  ])("%s is one document on standard error, with the exit code", async (_, words, name, exitCode) => {
    const { code, err, out } = await berthCli(words, variables)
    expect([code, out]).toEqual([exitCode, ""])
    expect(JSON.parse(err)).toEqual({ error: { code: name, message: expect.any(String) as string, exitCode } })
  })

  it("of what needs no installation is one document on standard output, and nothing else", async () => {
    const file = `${config}/berth.toml`
    for (
      const words of [
        ["schema"],
        ["completions", "bash"],
        ["logout"],
        ["init", "--config", file]
      ]
    ) {
      const { code, err, out } = await berthCli([...words, "--json"], variables)
      expect([code, err]).toEqual([0, ""])
      expect(JSON.parse(out)).toBeTypeOf("object")
    }
  })

  it("after -- is a word like any other", async () => {
    const { err } = await berthCli(["env", "set", "--", "--json"], variables)
    expect(() => JSON.parse(err) as unknown).toThrow()
  })
})

describe("berth completions", () => {
  const scriptOf = async (shell: string) => (await berthCli(["completions", shell])).out

  it.each(["bash", "zsh", "fish"])("%s knows each command and option, and none that no help shows", async (shell) => {
    const script = await scriptOf(shell)
    for (const { descriptor, words } of all) {
      for (const word of [...words, ...optionNames(descriptor)]) {
        expect(script).toContain(shell === "fish" ? word.replace(/^--?/, "") : word)
      }
    }
    expect(script).not.toMatch(/wizard|log-level|--completions\b|-l completions/)
  })

  it("offers in bash commands first, then their options, then those of every command", async () => {
    const lists = [...(await scriptOf("bash")).matchAll(/opts="([^"]+)"/g)].map(([, list = ""]) => list.split(" "))
    expect(lists[0]?.slice(0, 2)).toEqual(["admin", "call"])
    for (const list of lists) {
      expect(list.findLastIndex((word) => !word.startsWith("-"))).toBeLessThan(
        list.findIndex((word) => word.startsWith("-"))
      )
      expect(list.slice(-3).toSorted()).toEqual(["--help", "--version", "-h"])
    }
  })

  it("bash runs it: berth env s<Tab> is set", async () => {
    const script = `${await scriptOf("bash")}
COMP_WORDS=(berth env s); COMP_CWORD=2; _berth_bash_completions berth; echo "\${COMPREPLY[@]}"
COMP_WORDS=(berth deploy --no); COMP_CWORD=2; _berth_bash_completions berth; echo "\${COMPREPLY[@]}"`
    expect(execFileSync("bash", { input: script, encoding: "utf8" })).toBe("set\n--no-wait\n")
  })
})
