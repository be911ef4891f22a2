// An application on LangChain's adapters, which has the platform's door, the directory's and a composite's as one set of
// tools: node langchain.mjs MODULE URL TOKEN. Makes the composite itself, of the business that it finds; what its tools
// answered is printed as JSON.
const [module, url, token] = process.argv.slice(2)
const { MultiServerMCPClient } = await import(module)

const headers = { Authorization: `Bearer ${token}` }
const clientOf = (mcpServers) => new MultiServerMCPClient({ prefixToolNameWithServerName: true, mcpServers })

/** As an agent's loop calls a tool: what the result has for programs is beside the message. Throws for a failure. */
const toolsOf = async (client) => {
  const tools = new Map((await client.getTools()).map((tool) => [tool.name, tool]))
  const call = async (name, args) => {
    const { artifact } = await tools.get(name).invoke({ type: "tool_call", id: "1", name, args })
    return artifact.find(({ type }) => type === "mcp_structured_content").data
  }
  return { names: [...tools.keys()], call }
}

const berth = clientOf({
  platform: { transport: "http", url: `${url}/mcp`, headers },
  older: { transport: "sse", url: `${url}/sse`, headers },
  directory: { transport: "http", url: `${url}/mcp/directory` }
})
const { call, names } = await toolsOf(berth)
const found = await call("directory__search_businesses", { query: "burger" })
const { tools: told } = await call("older__find_tools", { query: "ask several businesses as one server" })
const { id } = await call("platform__call_tool", {
  name: "hub_create_composite",
  arguments: { name: "Near Millbrook", query_definition: { city: "Millbrook", state: "IL" } }
})

const composite = clientOf({ composite: { transport: "http", url: `${url}/mcp/composites/${id}`, headers } })
const members = await toolsOf(composite)
const answer = await members.call("composite__copper-ladle__search_catalog", { query: "trout" })
const who = await members.call("composite__composite_members", {})
const failure = await call("platform__get_server", { serverId: "srv_nowhere" }).catch(String)
console.log(
  JSON.stringify({ names, found, told: told.map(({ name }) => name), id, members: members.names, who, answer, failure })
)
await Promise.all([berth.close(), composite.close()])
