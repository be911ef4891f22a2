import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { type CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { callTool, connectMcp } from "../../support/mcp.ts"

/** Of what a model reads and writes; four characters of English or JSON are about one. */
const tokensOf = (text: string) => Math.ceil(text.length / 4)

export interface Job {
  readonly name: string
  readonly calls: number
  readonly tokens: number
}

/**
 * An agent that knows the door's URL and no more: it calls a listed tool by its name, and any other only when find_tools
 * has told of it. Counts calls, and tokens of arguments and of results as their text has them.
 */
export class DoorAgent {
  readonly #client: Client
  readonly #listed: ReadonlySet<string>
  readonly #told = new Set<string>()
  readonly jobs: Array<Job> = []
  /** Of the list and the instructions, once. */
  readonly tokensAtFirst: number
  #calls = 0
  #tokens = 0

  private constructor(client: Client, listed: ReadonlySet<string>, tokensAtFirst: number) {
    this.#client = client
    this.#listed = listed
    this.tokensAtFirst = tokensAtFirst
  }

  static async at(url: string, token: string) {
    const client = await connectMcp(url, { token })
    const { tools } = await client.listTools()
    const first = tokensOf(JSON.stringify(tools)) + tokensOf(client.getInstructions() ?? "")
    return new DoorAgent(client, new Set(tools.map(({ name }) => name)), first)
  }

  readonly #count = (args: unknown, { content }: CallToolResult) => {
    this.#calls++
    this.#tokens += tokensOf(JSON.stringify(args))
    for (const part of content) if (part.type === "text") this.#tokens += tokensOf(part.text)
  }

  /** Looks for a tool in a user's words; it has to be among what find_tools tells. */
  readonly find = async (words: string, name: string) => {
    const found = await callTool(this.#client, "find_tools", { query: words })
    this.#count({ query: words }, found)
    const { tools } = found.structuredContent as { tools: ReadonlyArray<{ name: string }> }
    for (const tool of tools) this.#told.add(tool.name)
    if (!this.#told.has(name)) throw new Error(`find_tools ${words} does not tell of ${name}`)
  }

  readonly call = async <A>(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<A> => {
    if (!this.#listed.has(name) && !this.#told.has(name)) throw new Error(`the door has not told of ${name}`)
    const isListed = this.#listed.has(name)
    const sent = isListed ? args : { name, arguments: args }
    const result = await callTool(this.#client, isListed ? name : "call_tool", sent)
    this.#count(sent, result)
    if (result.isError === true) throw new Error(`${name}: ${JSON.stringify(result.content)}`)
    return result.structuredContent as A
  }

  readonly job = async <A>(name: string, work: () => Promise<A>): Promise<A> => {
    this.#calls = this.#tokens = 0
    const result = await work()
    this.jobs.push({ name, calls: this.#calls, tokens: this.#tokens })
    return result
  }

  readonly table = () =>
    [
      ["the list and the instructions", 0, this.tokensAtFirst] as const,
      ...this.jobs.map(({ calls, name, tokens }) => [name, calls, tokens] as const)
    ].map(([name, calls, tokens]) =>
      `${name.padEnd(50)} ${String(calls).padStart(3)} calls ${String(tokens).padStart(6)} tokens`
    )
      .join("\n")

  readonly close = () => this.#client.close()
}
