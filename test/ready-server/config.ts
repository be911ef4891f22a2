import { readFileSync } from "node:fs"

export const restaurant = JSON.parse(
  readFileSync(new URL("../../examples/restaurant/ready-config.json", import.meta.url), "utf8")
) as Record<string, unknown>

/** The smallest configuration: every gap the platform may leave. */
export const minimal = {
  version: "2.0",
  serverId: "srv_1",
  templateType: "custom",
  business: { name: "Nowhere", description: "", category: "" },
  contact: {
    phone: "",
    email: "",
    website: "",
    address: { line1: "", city: "", state: "", zip: "", country: "" },
    coordinates: null
  },
  hours: {},
  featureFlags: {
    appointmentBooking: false,
    onlineOrdering: false,
    quoteRequests: false,
    faq: false,
    menuBrowsing: false
  }
}
