/** A small directory of businesses of many kinds, for questions of which a person knows the answer. */

export interface TownBusiness {
  readonly name: string
  readonly place: readonly [city: string, state: string, latitude: number, longitude: number]
  readonly categories: ReadonlyArray<string>
  readonly items: ReadonlyArray<string>
  /** Undefined: nobody knows. */
  readonly isOpen: boolean | undefined
}

const places = {
  den: ["Denver", "CO", 39.74, -104.99],
  kc: ["Kansas City", "MO", 39.1, -94.58],
  mia: ["Miami", "FL", 25.77, -80.19],
  sea: ["Seattle", "WA", 47.61, -122.33],
  stl: ["St. Louis", "MO", 38.63, -90.2],
  lv: ["Las Vegas", "NV", 36.17, -115.14],
  sf: ["San Francisco", "CA", 37.77, -122.42],
  bos: ["Boston", "MA", 42.36, -71.06],
  chi: ["Chicago", "IL", 41.88, -87.63],
  sand: ["Sandwich", "MA", 41.76, -70.49]
} as const

/** A place, the hours (`+` open, `-` closed, `?` unknown), the name, its categories, what it offers. */
const lines = `
kc + Sole Brothers | shoes | Leather loafers; Running trainers
kc - Heel & Toe | shoes, Retail | Ankle boots
kc + Bronze Sun Tanning Shop | beauty, Salon | Tanning bed
kc + Furry Friends Store | pet | Cat food; Dog leash
kc + Hammer Place | hardware | Cordless drill
kc ? Best Food Store | convenience | Chips
den + Mountain Chowder House | Restaurant, seafood | Clam chowder; Lobster roll; Fish tacos
den - Harbor Kitchen | Restaurant | Clam chowder; Crab cakes
den + Noodle Canteen | Restaurant, Noodles | Beef pho; Pad thai
den + Canac Building Store | hardware | Lumber; Paint
den + Bella Napoli | Restaurant, pizza, italian | Margherita pizza; Tiramisu; Gluten-free penne
den - Curry Leaf | Restaurant, indian | Butter chicken; Garlic naan; Mango lassi
den + Zahn & Lächeln | dentist | Teeth cleaning
den + Rocky Mountain Smiles | dentist, Professional Services | Dental implant; Whitening
den ? Mile High Plumbing | plumber, Home Services | Drain unclogging
den + The Gilded Fox | pub | Fish and chips; Stout
den - The Quiet Badger | pub | Scotch egg
den - Larimer Arms | pub | Shepherd's pie
den + Columbine Flowers | florist | Rose bouquet
sf + Golden Gate Jewelers | jewelry | Silver necklace
sf + Pacific Pharmacy Store | pharmacy | Aspirin
sf - Lotus Thai Kitchen | Restaurant, thai | Green curry; Mango sticky rice
sf + Sunset Books | books | Crime novels
sf + Mission Taqueria | Restaurant, mexican | Carnitas burrito; Horchata
sf + Fog City Bakery | bakery | Sourdough loaf; Almond croissant
stl + Gateway Fresh Market | supermarket | Organic apples
stl + Arch Hardware Store | hardware | Nails
stl - Paws Grocery Store for Pets | pet | Hamster food
stl + Blues City Deli | deli, Restaurant | Pastrami on rye; Matzo ball soup
lv + Neon Pharmacy | pharmacy | Sunscreen
lv + Drug Free Gym | fitness | Spin class
lv - Strip Steakhouse | Restaurant, steak | Ribeye; Creamed spinach
lv + Desert Tire Center | tyres | Tire rotation
mia + Palm Realty Group | estate_agent | Condo listings
mia + Little Havana Panes | bakery | Pan cubano; Guava pastry
mia - Biscayne Auto Care | car_repair | Oil change; Brake pads
mia + Ocean Drive Barbers | hairdresser, Salon | Fade haircut; Beard trim
mia + Cafe Versal | cafe | Cortadito; Flan
bos + Beacon Sandwich Co | sandwich, Restaurant | Turkey club; Italian sub
bos + Sushi Shop Express | Restaurant, sushi | Salmon roll
bos + Toyzz Shop | toys | Puzzles
bos - Fenway Optics | optician | Progressive lenses
bos + Charles River Law | lawyer | Will and testament
sand + Cape Souvenirs Shop | gift | Postcards
chi + Lakeside Veterinary | veterinary | Rabies shot
chi + Windy City Locksmiths | locksmith | Rekey a lock
chi - Magnificent Mile Hotel | hotel | King room
chi + Pilsen Laundry | laundry | Wash and fold
chi + 一蘭 | Restaurant, ramen | Tonkotsu ramen
chi + 吉野家 | Restaurant, japanese | Beef bowl
chi - すき家 | Restaurant, japanese | Gyudon
sf + 海底捞 | Restaurant, chinese | Hot pot
sf + 김밥천국 | Restaurant, korean | Kimbap; Tteokbokki
sea + Шоколадница | cafe | Hot chocolate
sea + Γρηγόρης | cafe | Spinach pie
sea + 紀伊國屋書店 | books | Manga
sea + 無印良品 | Retail, furniture | Bed linen
sea + スシロー | Restaurant, sushi | Tuna nigiri
sea + Ballard Bike Works | bicycle | Tune-up; Helmet
sea - Rainier Roofing | roofer, Home Services | Gutter repair
sea + Capitol Coffee Bar | cafe | Cold brew; Oat milk latte
sea + Pike Place Fishmonger | seafood | King salmon fillet
sea + Emerald Furniture | furniture | Walnut desk
sea + Puget Music | music | Ukulele
bos ? Harbor Dry Cleaners | laundry | Shirt pressing
chi + Gold Coast Insurance | insurance | Renters policy
mia + Coral Gables Dental | dentist | Braces
lv + Vegas Wedding Photo | photographer | Elopement package
`

export const town: ReadonlyArray<TownBusiness> = lines.trim().split("\n").map((line) => {
  const [head = "", categories = "", items = ""] = line.split(" | ")
  const [place = "", open = "", ...name] = head.split(" ")
  return {
    name: name.join(" "),
    place: places[place as keyof typeof places],
    categories: categories.split(", "),
    items: items.split("; "),
    isOpen: open === "?" ? undefined : open === "+"
  }
})

/** What people ask, by kind: the question, and what of it they expect among the first three. */
export const asked: Readonly<Record<string, ReadonlyArray<readonly [question: string, ...names: Array<string>]>>> = {
  "kind and place": [
    ["shoe store kansas city", "Sole Brothers", "Heel & Toe"],
    ["pet shop kansas city", "Furry Friends Store"],
    ["jewelry store san francisco", "Golden Gate Jewelers"],
    ["bookstore san francisco", "Sunset Books"],
    ["book shop san francisco", "Sunset Books"],
    ["grocery store st louis", "Gateway Fresh Market"],
    ["groceries saint louis", "Gateway Fresh Market"],
    ["drugstore las vegas", "Neon Pharmacy"],
    ["chemist in las vegas", "Neon Pharmacy"],
    ["realtor in miami", "Palm Realty Group"],
    ["real estate agent miami", "Palm Realty Group"],
    ["sandwich shop", "Beacon Sandwich Co"],
    ["sandwich place boston", "Beacon Sandwich Co"],
    ["hardware store denver", "Canac Building Store"],
    ["mechanic miami", "Biscayne Auto Care"],
    ["barber shop in Miami", "Ocean Drive Barbers"],
    ["flower shop denver", "Columbine Flowers"],
    ["thai restaurant san francisco", "Lotus Thai Kitchen"],
    ["indian food denver", "Curry Leaf"],
    ["italian restaurants in denver", "Bella Napoli"],
    ["vet in chicago", "Lakeside Veterinary"],
    ["attorney boston", "Charles River Law"],
    ["gym las vegas", "Drug Free Gym"],
    ["coffee shop seattle", "Capitol Coffee Bar"],
    ["bike store seattle", "Ballard Bike Works"]
  ],
  "dish and place": [
    ["where can I get clam chowder in Denver", "Mountain Chowder House", "Harbor Kitchen"],
    ["best clam chowder denver", "Mountain Chowder House", "Harbor Kitchen"],
    ["who sells margherita pizza in Denver?", "Bella Napoli"],
    ["I want butter chicken in Denver", "Curry Leaf"],
    ["where do they have tiramisu in denver", "Bella Napoli"],
    ["where can we eat beef pho in denver", "Noodle Canteen"],
    ["I'm looking for a good lobster roll in Denver", "Mountain Chowder House"],
    ["any place with mango lassi denver", "Curry Leaf"],
    ["which restaurant serves green curry in San Francisco", "Lotus Thai Kitchen"],
    ["mango sticky rice san francisco", "Lotus Thai Kitchen"],
    ["find me an almond croissant in San Francisco", "Fog City Bakery"],
    ["carnitas burrito san francisco", "Mission Taqueria"],
    ["where to get pastrami on rye in St. Louis", "Blues City Deli"],
    ["matzo ball soup st louis", "Blues City Deli"],
    ["who has ribeye in las vegas", "Strip Steakhouse"],
    ["where can you buy guava pastries in Miami", "Little Havana Panes"],
    ["cortadito miami", "Cafe Versal"],
    ["turkey club boston", "Beacon Sandwich Co"],
    ["I need an oil change in Miami", "Biscayne Auto Care"],
    ["where can I get a rabies shot in Chicago", "Lakeside Veterinary"],
    ["tonkotsu ramen in chicago please", "一蘭"],
    ["does anyone sell king salmon in Seattle", "Pike Place Fishmonger"],
    ["where can i buy a ukulele in seattle", "Puget Music"],
    ["shop with a walnut desk in Seattle", "Emerald Furniture"],
    ["gluten-free penne denver", "Bella Napoli"]
  ],
  "other languages": [
    ["Zahnarzt Denver", "Zahn & Lächeln", "Rocky Mountain Smiles"],
    ["Zahnarzt in der Nähe", "Zahn & Lächeln", "Rocky Mountain Smiles", "Coral Gables Dental"],
    ["dentiste à Denver", "Zahn & Lächeln", "Rocky Mountain Smiles"],
    ["dentista en Miami", "Coral Gables Dental"],
    ["panadería Miami", "Little Havana Panes"],
    ["panadería cerca de mí", "Little Havana Panes", "Fog City Bakery"],
    ["boulangerie San Francisco", "Fog City Bakery"],
    ["Bäckerei San Francisco", "Fog City Bakery"],
    ["zapatería Kansas City", "Sole Brothers", "Heel & Toe"],
    ["Schuhgeschäft Kansas City", "Sole Brothers", "Heel & Toe"],
    ["farmacia Las Vegas", "Neon Pharmacy"],
    ["Apotheke Las Vegas", "Neon Pharmacy"],
    ["peluquería Miami", "Ocean Drive Barbers"],
    ["coiffeur Miami", "Ocean Drive Barbers"],
    ["librería Seattle", "紀伊國屋書店"],
    ["本屋 Seattle", "紀伊國屋書店"],
    ["ristorante italiano Denver", "Bella Napoli"],
    ["restaurante mexicano San Francisco", "Mission Taqueria"],
    ["abogado Boston", "Charles River Law"],
    ["Rechtsanwalt Boston", "Charles River Law"],
    ["fleuriste Denver", "Columbine Flowers"],
    ["fontanero Denver", "Mile High Plumbing"],
    ["kapper Miami", "Ocean Drive Barbers"],
    ["Fahrradladen Seattle", "Ballard Bike Works"],
    ["supermercado St. Louis", "Gateway Fresh Market"]
  ],
  "open now": [
    ["pub open now", "The Gilded Fox"],
    ["pubs in denver that are open now", "The Gilded Fox"],
    ["open now pub", "The Gilded Fox"],
    ["clam chowder denver open now", "Mountain Chowder House"],
    ["is there a bakery open right now in san francisco", "Fog City Bakery"],
    ["coffee seattle currently open", "Capitol Coffee Bar"],
    ["shoe store kansas city open now", "Sole Brothers"],
    ["which barber is open now in miami", "Ocean Drive Barbers"],
    ["pharmacy open at the moment las vegas", "Neon Pharmacy"],
    ["Zahnarzt Denver jetzt geöffnet", "Zahn & Lächeln", "Rocky Mountain Smiles"],
    ["panadería Miami abierta ahora", "Little Havana Panes"],
    ["seafood restaurant open now denver", "Mountain Chowder House"]
  ],
  "romanised names": [
    ["ichiran", "一蘭"],
    ["ichiran chicago", "一蘭"],
    ["yoshinoya", "吉野家"],
    ["sukiya", "すき家"],
    ["haidilao", "海底捞"],
    ["gimbap cheonguk san francisco", "김밥천국"],
    ["shokoladnitsa", "Шоколадница"],
    ["grigoris seattle", "Γρηγόρης"],
    ["kinokuniya seattle", "紀伊國屋書店"],
    ["mujirushi ryohin", "無印良品"],
    ["sushiro seattle", "スシロー"],
    ["kinokuniya shoten", "紀伊國屋書店"],
    ["ichiran ramen", "一蘭"]
  ]
}
