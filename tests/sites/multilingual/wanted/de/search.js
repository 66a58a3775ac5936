window.vramdocIndex={"docs":[
["de/index.html","Anfang","Siehe die Anleitung."],
["de/guide.html","Die Anleitung","Vorwort."]],
"terms":{
"achtung":[1],
"anfang":[0],
"anleitung":[0,1],
"die":[0,1],
"erster":[1],
"guide":[0],
"md":[0],
"note":[1],
"part":[0],
"second":[0],
"siehe":[0],
"teil":[1],
"text":[1],
"vorwort":[1],
"zweiter":[1]}};
