/** What the MCP endpoint tells a client to begin with: tools that the caller may call, and no others. */
export const instructionsFor = (mayCall: (tool: string) => boolean): string => {
  const steps = ["create_project", "create_server", "deploy"].filter(mayCall)
  return [
    "Berth hosts MCP servers.",
    ...(steps.length === 0 ? [] : [`Run your own: ${steps.join(", ")}.`]),
    ...(mayCall("get_logs") ? ["get_logs tells why one fails."] : []),
    "Find those of businesses: directory_search; hub_listing_skill tells how to use one."
  ].join(" ")
}
