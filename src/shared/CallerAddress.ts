import { Context } from "effect"

/** The caller's IP address, proxies in front taken into account: known at both doors. */
export class CallerAddress extends Context.Reference<CallerAddress>()("shared/CallerAddress", {
  defaultValue: () => "unknown"
}) {}
