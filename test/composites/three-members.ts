import { afterAll, beforeAll } from "vitest"
import { type Account, type Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose, hubKey } from "../support/composites.ts"
import { type LiveMember, LiveMembers } from "../support/live-members.ts"
import { startMember, type TestMember, type TestTool } from "../support/mcp-member.ts"
import { callTool, connectMcp } from "../support/mcp.ts"

export interface Answer {
  readonly slug: string
  readonly status: string
  readonly result?: unknown
  readonly code?: string
  readonly message?: string
}

export const schema = { type: "object", properties: { q: { type: "string" } } } as const
export const look: TestTool = {
  name: "look",
  description: "Looks.",
  inputSchema: schema,
  annotations: { readOnlyHint: true }
}
export const change: TestTool = { name: "change", description: "Changes.", inputSchema: schema }

export const bySlug = (answers: ReadonlyArray<Answer>) => new Map(answers.map((one) => [one.slug, one]))

/** For tests that are not about the deadline: on a busy machine members take longer than it. */
export const patientMembers = { COMPOSITE_MEMBER_SECONDS: "30" }

/** Three members with the same tools, and a composite of them: what a test file about calls begins with. */
export const useThreeMembers = (variables: Readonly<Record<string, string>> = {}) => {
  const live = new LiveMembers()
  const berth = useBerth({ machines: live.machines, variables })

  const names = ["anna", "bert", "cleo"] as const

  let owner: Account
  let caller: Account
  let key: Holder
  const servers: Array<TestMember> = []
  const members: Array<LiveMember> = []
  let path = ""

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    caller = await berth.signUp("enterprise")
    key = await hubKey(berth, caller)
    for (const name of names) {
      const server = await startMember(name, [look, change])
      servers.push(server)
      members.push(await live.add(berth, owner, name, server.url))
    }
    path = await compositeOf(members)
  })
  afterAll(() => servers.forEach(({ stop }) => stop()))

  const compositeOf = async (list: ReadonlyArray<LiveMember>, holder: Holder = caller) => {
    const { id } = await compose(holder, {
      name: "All",
      query_definition: { listing_ids: list.map(({ business }) => business.listingId) }
    })
    return `/mcp/composites/${id}`
  }

  const connect = (token = caller.token, at = path) => connectMcp(berth.url, { token, path: at })

  const withClient = async <A>(
    run: (client: Awaited<ReturnType<typeof connect>>) => Promise<A>,
    token?: string,
    at?: string
  ) => {
    const client = await connect(token, at)
    try {
      return await run(client)
    } finally {
      await client.close()
    }
  }

  const ask = (args: Readonly<Record<string, unknown>> = {}, token?: string, tool = "look") =>
    withClient(async (client) => {
      const { structuredContent } = await callTool(client, tool, args)
      return (structuredContent as { answers: ReadonlyArray<Answer> }).answers
    }, token)

  const slugOf = (i: number) => members[i]!.slug

  return {
    berth,
    live,
    servers,
    members,
    compositeOf,
    withClient,
    ask,
    slugOf,
    get owner() {
      return owner
    },
    get caller() {
      return caller
    },
    get key() {
      return key
    },
    get path() {
      return path
    }
  }
}
