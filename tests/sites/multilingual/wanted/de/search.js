vramdocSearch("",[4,"a","#","#$",""])
