/** The smallest ReadyConfig: every gap that the platform may leave. */
export const smallestConfig = {
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
