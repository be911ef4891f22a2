import { Context } from "effect"

/** The caller's IP address, as trusted proxies report it; set for HTTP and MCP requests. */
export class CallerAddress extends Context.Reference<CallerAddress>()("shared/CallerAddress", {
  defaultValue: () => "unknown"
}) {}
