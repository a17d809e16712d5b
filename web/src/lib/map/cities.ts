// Names on the offline map: the largest cities of the United States and the capitals of the world, most important first.
// Each line: name, latitude, longitude, and the state or country by which a test checks the place.
import type { Place } from './types';

export interface City {
  name: string;
  at: Place;
  within: string;
  /** Zoom level from which the name is shown. */
  minZoom: number;
}

const US_MAJOR = `
New York,40.71,-74.01,New York
Los Angeles,34.05,-118.24,California
Chicago,41.88,-87.63,Illinois
Houston,29.76,-95.37,Texas
Phoenix,33.45,-112.07,Arizona
Philadelphia,39.95,-75.17,Pennsylvania
Dallas,32.78,-96.8,Texas
San Francisco,37.77,-122.42,California
Seattle,47.61,-122.33,Washington
Denver,39.74,-104.99,Colorado
Boston,42.36,-71.06,Massachusetts
Atlanta,33.75,-84.39,Georgia
Miami,25.77,-80.2,Florida
Minneapolis,44.98,-93.27,Minnesota
Detroit,42.33,-83.05,Michigan
San Diego,32.72,-117.16,California
Las Vegas,36.17,-115.14,Nevada
Portland,45.52,-122.68,Oregon
Salt Lake City,40.76,-111.89,Utah
Kansas City,39.1,-94.58,Missouri
New Orleans,29.95,-90.07,Louisiana
Anchorage,61.22,-149.9,Alaska
Honolulu,21.31,-157.85,Hawaii`;

const US_LARGE = `
San Antonio,29.42,-98.49,Texas
Austin,30.27,-97.74,Texas
Jacksonville,30.33,-81.66,Florida
San Jose,37.34,-121.89,California
Fort Worth,32.76,-97.33,Texas
Columbus,39.96,-83,Ohio
Charlotte,35.23,-80.84,North Carolina
Indianapolis,39.77,-86.16,Indiana
Oklahoma City,35.47,-97.52,Oklahoma
Nashville,36.16,-86.78,Tennessee
El Paso,31.76,-106.49,Texas
Memphis,35.15,-90.05,Tennessee
Louisville,38.25,-85.76,Kentucky
Baltimore,39.29,-76.61,Maryland
Milwaukee,43.04,-87.91,Wisconsin
Albuquerque,35.08,-106.65,New Mexico
Tucson,32.22,-110.97,Arizona
Fresno,36.74,-119.79,California
Sacramento,38.58,-121.49,California
Omaha,41.26,-95.93,Nebraska
Raleigh,35.78,-78.64,North Carolina
Virginia Beach,36.85,-76.01,Virginia
Tampa,27.95,-82.46,Florida
Orlando,28.54,-81.38,Florida
St. Louis,38.63,-90.2,Missouri
Pittsburgh,40.44,-80,Pennsylvania
Cincinnati,39.1,-84.51,Ohio
Cleveland,41.5,-81.69,Ohio
Boise,43.62,-116.2,Idaho
Richmond,37.54,-77.44,Virginia
Birmingham,33.52,-86.8,Alabama
Buffalo,42.89,-78.88,New York
Spokane,47.66,-117.43,Washington
Des Moines,41.59,-93.62,Iowa
Billings,45.78,-108.5,Montana
Little Rock,34.75,-92.29,Arkansas
Wichita,37.69,-97.34,Kansas
Tulsa,36.15,-95.99,Oklahoma
Fargo,46.88,-96.79,North Dakota
Sioux Falls,43.55,-96.73,South Dakota
Cheyenne,41.14,-104.82,Wyoming
Jackson,32.3,-90.18,Mississippi
Charleston,32.78,-79.93,South Carolina
Reno,39.53,-119.81,Nevada
Fairbanks,64.84,-147.72,Alaska`;

const US_MEDIUM = `
Arlington,32.74,-97.11,Texas
Colorado Springs,38.83,-104.82,Colorado
Mesa,33.42,-111.83,Arizona
Long Beach,33.79,-118.19,California
Oakland,37.8,-122.27,California
Bakersfield,35.37,-119.02,California
Aurora,39.73,-104.83,Colorado
Anaheim,33.84,-117.91,California
Corpus Christi,27.8,-97.4,Texas
Riverside,33.95,-117.4,California
Lexington,38.04,-84.5,Kentucky
Stockton,37.96,-121.29,California
St. Paul,44.95,-93.09,Minnesota
Newark,40.74,-74.17,New Jersey
Greensboro,36.07,-79.79,North Carolina
Lincoln,40.81,-96.7,Nebraska
Toledo,41.65,-83.54,Ohio
Fort Wayne,41.08,-85.14,Indiana
Jersey City,40.72,-74.06,New Jersey
St. Petersburg,27.77,-82.64,Florida
Laredo,27.51,-99.51,Texas
Madison,43.07,-89.4,Wisconsin
Lubbock,33.58,-101.86,Texas
Durham,35.99,-78.9,North Carolina
Winston-Salem,36.1,-80.24,North Carolina
Baton Rouge,30.45,-91.19,Louisiana
Norfolk,36.85,-76.29,Virginia
Rochester,43.16,-77.61,New York
Tacoma,47.25,-122.44,Washington
Modesto,37.64,-121,California
Fayetteville,35.05,-78.88,North Carolina
Montgomery,32.37,-86.3,Alabama
Shreveport,32.53,-93.75,Louisiana
Akron,41.08,-81.52,Ohio
Grand Rapids,42.96,-85.67,Michigan
Mobile,30.69,-88.04,Alabama
Huntsville,34.73,-86.59,Alabama
Augusta,33.47,-81.97,Georgia
Amarillo,35.19,-101.83,Texas
Knoxville,35.96,-83.92,Tennessee
Chattanooga,35.05,-85.31,Tennessee
Worcester,42.26,-71.8,Massachusetts
Providence,41.82,-71.41,Rhode Island
Hartford,41.76,-72.67,Connecticut
Albany,42.65,-73.76,New York
Syracuse,43.05,-76.15,New York
Manchester,42.99,-71.46,New Hampshire
Burlington,44.48,-73.21,Vermont
Portland,43.66,-70.26,Maine
Bangor,44.8,-68.77,Maine
Wilmington,39.75,-75.55,Delaware
Charleston,38.35,-81.63,West Virginia
Columbia,34,-81.03,South Carolina
Savannah,32.08,-81.09,Georgia
Tallahassee,30.44,-84.28,Florida
Pensacola,30.42,-87.22,Florida
Fort Lauderdale,26.12,-80.14,Florida
Fort Myers,26.64,-81.87,Florida
Springfield,37.21,-93.29,Missouri
Springfield,39.78,-89.65,Illinois
Peoria,40.69,-89.59,Illinois
Cedar Rapids,41.98,-91.67,Iowa
Topeka,39.05,-95.68,Kansas
Duluth,46.79,-92.1,Minnesota
Green Bay,44.51,-88.02,Wisconsin
Lansing,42.73,-84.56,Michigan
Bismarck,46.81,-100.78,North Dakota
Rapid City,44.08,-103.23,South Dakota
Casper,42.85,-106.31,Wyoming
Great Falls,47.5,-111.29,Montana
Missoula,46.87,-113.99,Montana
Helena,46.59,-112.04,Montana
Idaho Falls,43.49,-112.03,Idaho
Provo,40.23,-111.66,Utah
Santa Fe,35.69,-105.94,New Mexico
Las Cruces,32.31,-106.78,New Mexico
Flagstaff,35.2,-111.65,Arizona
Grand Junction,39.06,-108.55,Colorado
Eugene,44.05,-123.09,Oregon
Salem,44.94,-123.04,Oregon
Bend,44.06,-121.31,Oregon
Yakima,46.6,-120.51,Washington
Redding,40.59,-122.39,California
Santa Barbara,34.42,-119.7,California
Midland,32,-102.08,Texas
Waco,31.55,-97.15,Texas
Brownsville,25.9,-97.5,Texas
Fort Smith,35.39,-94.4,Arkansas
Gulfport,30.37,-89.09,Mississippi
Juneau,58.3,-134.42,Alaska
Hilo,19.72,-155.08,Hawaii`;

const CAPITALS_MAJOR = `
Washington,38.9,-77.04,District of Columbia
Ottawa,45.42,-75.7,Canada
Mexico City,19.43,-99.13,Mexico
London,51.51,-0.13,United Kingdom
Paris,48.86,2.35,France
Berlin,52.52,13.4,Germany
Madrid,40.42,-3.7,Spain
Rome,41.9,12.5,Italy
Moscow,55.76,37.62,Russia
Ankara,39.93,32.86,Turkey
Cairo,30.04,31.24,Egypt
Lagos,6.46,3.38,Nigeria
Nairobi,-1.29,36.82,Kenya
Kinshasa,-4.33,15.31,Dem. Rep. Congo
Pretoria,-25.75,28.19,South Africa
Riyadh,24.71,46.68,Saudi Arabia
Tehran,35.69,51.39,Iran
New Delhi,28.61,77.21,India
Islamabad,33.68,73.05,Pakistan
Beijing,39.9,116.41,China
Tokyo,35.69,139.69,Japan
Seoul,37.57,126.98,South Korea
Manila,14.6,120.98,Philippines
Jakarta,-6.2,106.82,Indonesia
Bangkok,13.76,100.5,Thailand
Hanoi,21.03,105.85,Vietnam
Canberra,-35.28,149.13,Australia
Wellington,-41.28,174.78,New Zealand
Brasília,-15.79,-47.88,Brazil
Buenos Aires,-34.6,-58.38,Argentina
Santiago,-33.45,-70.67,Chile
Lima,-12.05,-77.04,Peru
Bogotá,4.71,-74.07,Colombia
Caracas,10.49,-66.88,Venezuela`;

const CAPITALS = `
Kyiv,50.45,30.52,Ukraine
Warsaw,52.23,21.01,Poland
Vienna,48.21,16.37,Austria
Budapest,47.5,19.04,Hungary
Prague,50.08,14.44,Czechia
Bratislava,48.15,17.11,Slovakia
Bern,46.95,7.45,Switzerland
Brussels,50.85,4.35,Belgium
Amsterdam,52.37,4.9,Netherlands
Luxembourg,49.61,6.13,Luxembourg
Dublin,53.35,-6.26,Ireland
Lisbon,38.72,-9.14,Portugal
Oslo,59.91,10.75,Norway
Stockholm,59.33,18.07,Sweden
Helsinki,60.17,24.94,Finland
Copenhagen,55.68,12.57,Denmark
Reykjavík,64.15,-21.94,Iceland
Tallinn,59.44,24.75,Estonia
Riga,56.95,24.11,Latvia
Vilnius,54.69,25.28,Lithuania
Minsk,53.9,27.57,Belarus
Chișinău,47.01,28.86,Moldova
Bucharest,44.43,26.1,Romania
Sofia,42.7,23.32,Bulgaria
Belgrade,44.79,20.45,Serbia
Zagreb,45.81,15.98,Croatia
Ljubljana,46.06,14.51,Slovenia
Sarajevo,43.86,18.41,Bosnia and Herz.
Skopje,41.99,21.43,Macedonia
Tirana,41.33,19.82,Albania
Athens,37.98,23.73,Greece
Nicosia,35.17,33.36,Cyprus
Tbilisi,41.72,44.79,Georgia
Yerevan,40.18,44.51,Armenia
Baku,40.41,49.87,Azerbaijan
Rabat,34.02,-6.84,Morocco
Algiers,36.75,3.06,Algeria
Tunis,36.81,10.18,Tunisia
Tripoli,32.89,13.19,Libya
Khartoum,15.5,32.56,Sudan
Addis Ababa,9.03,38.74,Ethiopia
Mogadishu,2.05,45.32,Somalia
Kampala,0.35,32.58,Uganda
Kigali,-1.94,30.06,Rwanda
Dodoma,-6.16,35.75,Tanzania
Lusaka,-15.39,28.32,Zambia
Harare,-17.83,31.05,Zimbabwe
Maputo,-25.97,32.57,Mozambique
Antananarivo,-18.88,47.51,Madagascar
Gaborone,-24.63,25.92,Botswana
Windhoek,-22.56,17.08,Namibia
Luanda,-8.84,13.23,Angola
Brazzaville,-4.26,15.24,Congo
Libreville,0.42,9.47,Gabon
Yaoundé,3.85,11.5,Cameroon
Abuja,9.06,7.49,Nigeria
Accra,5.6,-0.19,Ghana
Abidjan,5.36,-4.01,Côte d'Ivoire
Ouagadougou,12.37,-1.52,Burkina Faso
Bamako,12.64,-8,Mali
Niamey,13.51,2.11,Niger
N'Djamena,12.13,15.06,Chad
Dakar,14.72,-17.47,Senegal
Nouakchott,18.08,-15.98,Mauritania
Conakry,9.64,-13.58,Guinea
Freetown,8.48,-13.23,Sierra Leone
Monrovia,6.3,-10.8,Liberia
Baghdad,33.31,44.37,Iraq
Damascus,33.51,36.29,Syria
Beirut,33.89,35.5,Lebanon
Amman,31.95,35.93,Jordan
Kuwait City,29.37,47.98,Kuwait
Doha,25.29,51.53,Qatar
Abu Dhabi,24.45,54.38,United Arab Emirates
Muscat,23.59,58.41,Oman
Sanaa,15.37,44.19,Yemen
Kabul,34.53,69.17,Afghanistan
Tashkent,41.3,69.24,Uzbekistan
Ashgabat,37.96,58.33,Turkmenistan
Dushanbe,38.56,68.77,Tajikistan
Bishkek,42.87,74.59,Kyrgyzstan
Astana,51.17,71.45,Kazakhstan
Ulaanbaatar,47.89,106.91,Mongolia
Kathmandu,27.72,85.32,Nepal
Thimphu,27.47,89.64,Bhutan
Dhaka,23.81,90.41,Bangladesh
Colombo,6.93,79.86,Sri Lanka
Naypyidaw,19.75,96.1,Myanmar
Vientiane,17.97,102.63,Laos
Phnom Penh,11.56,104.92,Cambodia
Kuala Lumpur,3.14,101.69,Malaysia
Taipei,25.03,121.57,Taiwan
Pyongyang,39.04,125.76,North Korea
Port Moresby,-9.44,147.18,Papua New Guinea
Suva,-18.14,178.44,Fiji
Montevideo,-34.9,-56.16,Uruguay
Asunción,-25.28,-57.63,Paraguay
Sucre,-19.05,-65.26,Bolivia
Quito,-0.18,-78.47,Ecuador
Georgetown,6.8,-58.16,Guyana
Paramaribo,5.85,-55.2,Suriname
Panama City,8.98,-79.52,Panama
San José,9.93,-84.08,Costa Rica
Managua,12.11,-86.24,Nicaragua
Tegucigalpa,14.07,-87.19,Honduras
San Salvador,13.69,-89.22,El Salvador
Guatemala City,14.63,-90.51,Guatemala
Belmopan,17.25,-88.77,Belize
Havana,23.11,-82.37,Cuba
Port-au-Prince,18.54,-72.34,Haiti
Santo Domingo,18.49,-69.93,Dominican Rep.
Kingston,17.97,-76.79,Jamaica
Nassau,25.05,-77.35,Bahamas
Port of Spain,10.65,-61.5,Trinidad and Tobago`;

function parse(lines: string, minZoom: number): City[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', latitude, longitude, within = ''] = line.split(',');
      return { name, at: [Number(latitude), Number(longitude)], within, minZoom };
    });
}

export const CITIES: readonly City[] = [
  ...parse(US_MAJOR, 4),
  ...parse(CAPITALS_MAJOR, 3),
  ...parse(US_LARGE, 5),
  ...parse(CAPITALS, 4),
  ...parse(US_MEDIUM, 6),
];
