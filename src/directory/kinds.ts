/**
 * Kinds of business as people name them in several languages, one kind a line. A search for a word also finds listings that
 * have another word of its line. The others of a line find a word with `+`, which itself finds no other.
 */
const kinds = `
bakery bakeries bakeshop backerei boulangerie panaderia panificio panetteria padaria bakkerij piekarnia bageri bager bakeri leipomo pekarstvi pekseg firin пекарня булочная パン屋 ベーカリー 빵집 제과점 面包店 烘焙店
pastry patisserie pastries konditorei pasteleria pasticceria confeitaria pastelaria cukiernia konditori cukrarna cukraszda pastane кондитерская ケーキ屋 洋菓子店 甜品店
butcher butchers butchery metzgerei fleischerei metzger boucherie boucher carniceria macelleria talho acougue slagerij slager slagter slaktare rzeznik reznictvi hentes kasap 精肉店 肉屋 정육점 肉店
fishmonger seafood fischgeschaft fischhandler poissonnerie pescaderia pescheria peixaria viswinkel fiskaffar 魚屋 生선가게 海鲜店
greengrocer obsthandler gemuseladen fruteria verduleria fruttivendolo frutaria groenteboer warzywniak manav 八百屋 果蔬店
supermarket supermarkets grocery groceries grocer supermarkt lebensmittel supermarche epicerie supermercado abarrotes supermercato mercearia hipermercado mataffar supermarked supermarketti szupermarket supermarketi супермаркет продукты スーパー スーパーマーケット 슈퍼마켓 마트 超市
convenience bodega minimart spatkauf superette minimercado nattbutik コンビニ コンビニエンスストア 편의점 便利店
liquor bottleshop spirituosen licoreria slijterij 酒屋 주류점
wine winery weinhandlung vinothek caviste vinoteca enoteca wijnhandel vinhandel вино ワイン 와인
chocolate chocolatier schokolade chocolateria cioccolateria
cafe coffee coffeehouse espresso kaffee kaffeehaus cafeteria caffe caffetteria kawiarnia kahvila kavarna kavezo kafe kahve kahveci кафе кофейня кофе カフェ 喫茶店 コーヒー 카페 커피 咖啡 咖啡馆 咖啡店 καφε
tea teahouse teeladen teehaus teteria お茶
gelato icecream +cream eisdiele eiscafe glacier heladeria gelateria sorveteria ijssalon lodziarnia dondurma アイスクリーム 아이스크림 冰淇淋
pub tavern taproom kneipe bierhaus cerveceria birreria kroeg kocsma hospoda паб 居酒屋 izakaya 호프 酒馆
bar cocktails バー 술집 酒吧 бар
restaurant restaurants diner eatery ristorante restaurante restoran restauracja restauration restaurang ravintola etterem lokanta gaststatte trattoria ресторан レストラン 식당 음식점 레스토랑 餐厅 餐馆 饭店 εστιατοριο
pizza pizzeria pizzerias пицца пиццерия ピザ 피자 披萨 比萨
burger burgers hamburger hamburgers hamburguesa hamburgueseria hamburgueria бургер ハンバーガー 햄버거 汉堡
sandwich sandwiches deli delicatessen belegte broodjes bocadillo bocadillos panini sandwicherie サンドイッチ 샌드위치 三明治
sushi суши 寿司 鮨 스시 초밥
noodles noodle ramen nudeln nouilles fideos ラーメン 拉麺 라면 拉面 面馆
chicken poulet pollo hahnchen frango курица 치킨 炸鸡
barbecue bbq steakhouse steak grill grillhaus rotisserie asador parrilla churrascaria churrasqueira ステーキ 焼肉 고기집 烧烤
italian italienisch italienisches italien italienne italiano italiana итальянский イタリアン 이탈리아
mexican taqueria tacos mexikanisch mexicain mexicaine mexicano mexicana messicano メキシコ
chinese chinesisch chinesisches chinois chinoise chino cinese китайский 中華 中国料理 중국집 中餐
japanese japanisch japanisches japonais japonaise japones japonesa giapponese японский 日本料理 和食 일식 日料
thai thailandisch thailandais tailandes tailandese タイ料理 태국
indian curry indisch indisches indien indienne indio indiano индийский インド料理 カレー 인도 印度
french franzosisch francais francaise frances francese フレンチ
greek griechisch griechisches grec grecque griego greco
vietnamese pho vietnamesisch vietnamien vietnamienne vietnamita ベトナム 베트남 越南
korean koreanisch coreen coreenne coreano coreana 韓国料理 한식 韩国
clothes clothing apparel fashion boutique kleidung bekleidung modegeschaft vetements ropa abbigliamento vestiti roupa roupas kleding odziez klader tojbutik vaatteet ruha giyim одежда 洋服 アパレル 옷가게 의류 服装店
shoes shoe footwear sneakers schuhe schuhgeschaft schuhladen chaussures zapatos zapateria calzado scarpe calzature sapatos sapataria schoenen schoenenwinkel obuwie skor skoaffar sko skobutik kengat obuv cipo ayakkabi обувь 靴 靴屋 靴店 신발 鞋店
jewelry jewellery jeweler jeweller jewelers juwelier schmuck bijouterie bijoux joyeria gioielleria gioielli joalheria ourivesaria jubiler guldsmed klenotnictvi ekszer kuyumcu ювелирный ジュエリー 宝石店 귀금속 珠宝店
books bookstore bookshop +book buchhandlung buchladen bucher librairie livres libreria libros livraria livros boekhandel boekwinkel ksiegarnia bokhandel boghandel kirjakauppa knihkupectvi konyvesbolt kitapci книжный книги 本屋 書店 서점 书店
florist flowers flower blumen blumenladen fleuriste fleurs floristeria flores floreria fioraio fiori floricultura bloemen bloemist kwiaciarnia blommor blomster kukkakauppa kvetinarstvi viragbolt cicekci цветы 花屋 花店 꽃집
toys toy spielzeug spielwaren jouets juguetes jugueteria giocattoli brinquedos speelgoed zabawki leksaker legetoj oyuncak игрушки おもちゃ 玩具店 장난감
optician optometrist glasses eyewear optiker brillen opticien lunettes optica ottico otica optyk gozluk оптика 眼鏡 メガネ 안경 眼镜店
furniture mobel mobelhaus meubles muebles muebleria mobili moveis meubels meble huonekalut nabytek butor mobilya мебель 家具 家具店 가구
hardware doityourself diy baumarkt eisenwaren quincaillerie bricolage ferreteria ferramenta bouwmarkt ijzerhandel rautakauppa zelezarstvi hirdavat стройматериалы 金物店 ホームセンター 철물점 五金店
electronics elektronik electronique electronica elettronica eletronicos elektronica электроника 家電 電器店 전자제품 电器店
computer computers ordinateur ordinateurs ordenadores computadoras informatica パソコン 컴퓨터 电脑
cellphone cellphones +phone handyladen telephone telefono celulares telefones 携帯 휴대폰 手机店
bicycle bike bikes bicycles fahrrad fahrradladen velo bicicletas bicicleteria bicicletta fietsen fietsenwinkel rower cykel polkupyora kerekpar bisiklet велосипед 自転車 자전거 自行车
pet pets tierhandlung zoohandlung animalerie mascotas animali petshop dierenwinkel zoologiczny husdjur зоомагазин ペット 애완 宠物店
gifts souvenirs geschenke cadeaux regalos regali presentes cadeaus подарки ギフト 선물
stationery schreibwaren papeterie papeleria cartoleria papelaria kantoorartikelen kirtasiye 文房具 문구점 文具店
sports sport sportswear sportgeschaft deportes sportivo esportes スポーツ 스포츠 体育用品
hairdresser +hair barber barbers haircut friseur friseursalon coiffeur coiffure peluqueria peluquero barberia parrucchiere barbiere cabeleireiro barbearia kapper kapsalon fryzjer frisor kampaamo kadernictvi fodrasz kuafor berber парикмахерская барбершоп 美容院 美容室 床屋 ヘアサロン 미용실 이발소 理发店 美发
beauty cosmetics nails kosmetik kosmetikstudio nagelstudio beaute esthetique belleza estetica manicura bellezza unhas schoonheidssalon skonhet guzellik салон маникюр ネイル エステ 뷰티 네일 美甲 美容
massage spa massagen masajes massaggi massagem masaj массаж マッサージ 마사지 按摩
tattoo tattoos tatowierung tatouage tatuajes tatuaggi tatuagem тату タトゥー 타투 纹身
laundry laundromat +cleaning cleaners wascherei waschsalon laverie lavanderia tintoreria wasserette stomerij pralnia tvatteri vaskeri pesula mosoda химчистка クリーニング コインランドリー 세탁소 洗衣店
tailor schneider schneiderei tailleur couturier sastre sastreria sarto sartoria alfaiate kleermaker krawiec terzi ателье 仕立屋 裁缝
travel +agency reiseburo voyages viajes viaggi viagens reisbureau podrozy resebureau seyahat турагентство 旅行代理店 여행사 旅行社
dentist dentists dental zahnarzt zahnarztin zahnarztpraxis dentiste dentista odontologo odontologia tandarts dentysta stomatolog tandlakare tannlege tandlaege hammaslaakari zubar fogorvos disci dishekimi стоматолог стоматология 歯医者 歯科 歯科医院 치과 牙医 牙科 οδοντιατρος
doctor doctors physician clinic arzt hausarzt arztpraxis medecin medico medicos huisarts lekarz lakare laege laakari orvos doktor врач 病院 医院 クリニック 의원 병원 诊所
pharmacy pharmacies drugstore drugstores chemist chemists apotheke apotheken pharmacie farmacia farmacias apotheek drogerie apteka apotek apteekki lekarna gyogyszertar eczane аптека 薬局 ドラッグストア 약국 药店 药房 φαρμακειο
veterinary veterinarian vet vets tierarzt tierarztin veterinaire veterinario veterinaria dierenarts weterynarz veterinar elainlaakari allatorvos veteriner ветеринар 動物病院 동물병원 宠物医院
bank banks sparkasse banque banco banca banka банк 銀行 은행 银行
fuel gas petrol tankstelle gasolinera gasolina benzinaio distributore tankstation benzinkut заправка ガソリンスタンド 주유소 加油站
carwash +wash autowasche waschanlage autolavado autolavaggio 洗車 세차장 洗车
+rental autovermietung mietwagen autonoleggio autoverhuur レンタカー 렌터카 租车
autorepair +repair mechanic autowerkstatt werkstatt garagiste mecanico meccanico autofficina officina autogarage mechanik bilverkstad autokorjaamo autoservis tamirhane автосервис 自動車整備 정비소 汽车修理
tyres tires reifen reifenhandel pneus neumaticos llantas gomme gommista banden opony шины タイヤ 타이어 轮胎
car cars dealership autos autohaus concessionnaire concesionario concessionario autodealer автосалон カーディーラー 自動車販売
kindergarten childcare daycare preschool kita kindertagesstatte guarderia kinderopvang przedszkole barnehage 保育園 幼稚園 어린이집 幼儿园
+driving fahrschule autoescuela autoscuola autoescola rijschool 教習所
fitness gym gyms fitnessstudio musculation gimnasio palestra ginasio sportschool silownia kuntosali posilovna edzoterem фитнес спортзал ジム フィットネス 헬스장 健身房
yoga pilates yogastudio йога ヨガ 요가 瑜伽
hotel hotels inn motel lodging gasthof auberge albergo alojamiento hospedaje pousada hotell hotelli szalloda otel гостиница отель ホテル 旅館 호텔 酒店 宾馆 ξενοδοχειο
lawyer lawyers attorney attorneys law anwalt rechtsanwalt anwaltskanzlei kanzlei avocat avocats abogado abogados bufete avvocato avvocati advogado advogados advocaat prawnik adwokat advokat asianajaja ugyved avukat юрист адвокат 弁護士 法律事務所 변호사 律师 δικηγορος
+estate realtor realtors realty makler immobilien immobilienmakler immobilier immobiliere inmobiliaria immobiliare imobiliaria makelaar nieruchomosci maklare ejendomsmaegler eiendomsmegler kiinteistonvalitys ingatlan emlak недвижимость 不動産 부동산 房产中介
accountant accountants accounting accountancy bookkeeping bookkeeper steuerberater buchhalter comptable contador contable contabilidad commercialista contabilista boekhouder ksiegowy revisor kirjanpitaja ucetni konyvelo muhasebeci бухгалтер 税理士 会計士 세무사 会计
insurance versicherung assurance assurances seguros seguro assicurazioni assicurazione verzekering ubezpieczenia forsakring forsikring vakuutus pojistovna biztosito sigorta страхование 保険 보험 保险
notary notar notaire notario notaria notaio notaris notariusz нотариус 公証人 公证
architect architects architekt architecte arquitecto arquitecta architetto arquiteto architectenbureau mimar архитектор 建築家 건축 建筑师
plumber plumbers plumbing klempner installateur sanitar plombier plomberie fontanero fontaneria plomero idraulico encanador canalizador loodgieter hydraulik rormokare rorlegger putkimies instalater vizvezetek tesisatci сантехник 配管 水道屋 배관 水管工
electrician electricians electrical elektriker electricien electricista elettricista eletricista elektricien elektryk sahkoasentaja elektrikar villanyszerelo elektrikci электрик 電気工事 전기공사 电工
carpenter carpentry joiner tischler schreiner zimmermann menuisier charpentier carpintero carpinteria falegname carpinteiro timmerman stolarz snickare tomrer puuseppa tesar marangoz плотник 大工 목수 木工
painter painters maler malerbetrieb peintre pintor pintores imbianchino schilder malarz malare maalari boyaci маляр 塗装 페인트 油漆
roofer roofing roofers dachdecker couvreur techador tejados dakdekker dekarz taklaggare tagdaekker кровельщик 屋根 지붕
locksmith locksmiths schlusseldienst serrurier cerrajero cerrajeria fabbro chaveiro slotenmaker slusarz lassmed lasesmed lukkoseppa zamecnik lakatos cilingir слесарь 鍵屋 열쇠 锁匠
gardener landscaping landscaper gardening gartner gartenbau jardinier paysagiste jardinero jardineria giardiniere jardineiro tuinman hovenier ogrodnik tradgardsmastare kertesz bahcivan садовник 造園 园艺
photographer photography photo fotograf fotostudio photographe fotografo fotografia fotograaf valokuvaaja fenykepesz fotografci фотограф 写真館 사진관 摄影
cobbler shoemaker schuster schuhmacher cordonnier zapatero calzolaio sapateiro schoenmaker szewc skomakare suutari cipesz 靴修理
+garden nursery gartencenter gartnerei jardinerie vivero vivaio tuincentrum 園芸
+secondhand +hand thrift gebrauchtwaren friperie brocante brecho kringloop lumpeks loppis genbrug リサイクルショップ 중고 二手
cinema theater theatre movies kino bioscoop elokuvateatteri mozi sinema кинотеатр 映画館 영화관 电影院
cleaning cleaner maid putzdienst reinigungsfirma nettoyage limpieza pulizie limpeza schoonmaak sprzatanie stadning rengoring siivous uklid takaritas temizlik клининг 清掃 청소 保洁
moving movers mover removals umzug umzugsfirma demenagement mudanzas traslochi mudancas verhuizing przeprowadzki flyttfirma koltoztetes nakliyat переезд 引越し 이사 搬家
music guitars musikgeschaft musikhaus musica muziekwinkel muzyczny музыкальный 楽器店 악기 乐器
`

/** Letters without marks, as the vocabulary has them. */
const folded = (text: string) =>
  text.toLowerCase().replaceAll("ß", "ss").replaceAll("ø", "o").replaceAll("æ", "ae").replaceAll("ı", "i")
    .normalize("NFD").replaceAll(/[\u0300-\u036f]/g, "").normalize("NFC")

const sameKind = new Map<string, ReadonlyArray<string>>()
for (const kind of folded(kinds).trim().split("\n")) {
  const words = kind.split(" ")
  const found = words.map((word) => word.replace("+", ""))
  for (const word of words) sameKind.set(word, [...(sameKind.get(word) ?? []), ...found])
}

/** The other words for the kind of business that a word names; none where it names none. */
export const sameKindAs = (word: string): ReadonlyArray<string> => sameKind.get(folded(word)) ?? []
