/** What programs call the only form of an item. */
const onlyForm = /^(regular|standard|default|default title)$/i

/** Whether a text names one of several forms of an item. */
export const isVariation = (text: string) => text.trim() !== "" && !onlyForm.test(text.trim())

/** The name of an item in one of its forms: `Latte, Small`. */
export const withVariation = (name: unknown, variation: unknown) =>
  typeof name === "string" && typeof variation === "string" && name.trim() !== "" && isVariation(variation)
    ? `${name.trim()}, ${variation.trim()}`
    : name
