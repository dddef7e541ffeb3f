"""Words that say little by themselves, in a few languages; the English list is scikit-learn's."""

from __future__ import annotations

LISTS: dict[str, str] = {
    "dutch": """
        aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen
        geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me
        meer men met mij mijn moet na naar niet niets nog nu of om omdat ons ook op over reeds te tegen toch toen tot u
        uit uw van veel voor want waren was wat we wel werd wezen wie wij wil worden zal ze zei zelf zich zij zijn zo
        zonder zou
    """,
    "french": """
        ai aie ait as au aucun aussi autre aux avait avec avez avoir avons bien car ce cela ces cet cette ceux chez
        ci comme dans de des donc dont du elle elles en encore es est et étaient était été être eu eux fait faire il
        ils je la le les leur leurs lui là ma mais me mes moi moins mon même ne ni nos notre nous on ont ou où par pas
        peu peut plus pour qu quand que quel quelle quelles quels qui quoi sa sans se sera serait ses si son sont sous
        suis sur ta te tes toi ton tous tout toute toutes trop très tu un une vos votre vous
    """,
    "german": """
        aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da dadurch
        damit dann das dass dein deine dem den denn der des dessen dich die dies diese diesem diesen dieser dieses dir
        doch dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen gewesen hab habe haben hat
        hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden
        jeder jedes jene jetzt kann kein keine keinem keinen keiner können könnte machen man manche mein meine meinem
        meinen meiner mich mir mit muss musste müssen nach nicht nichts noch nun nur ob oder ohne schon sehr sein seine
        seinem seinen seiner selbst sich sie sind so solche soll sollte sondern sonst über um und uns unser unsere
        unter viel vom von vor wann war waren warum was weg weil weiter welche wenn wer werde werden wie wieder will
        wir wird wirst wo wollen wurde wurden würde würden zu zum zur zwar zwischen
    """,
    "italian": """
        abbiamo ad agli ai al alla alle allo anche avere aveva avevano ben che chi ci come con cui da dagli dai dal
        dalla dalle dallo degli dei del della delle dello di dove due era erano essere fa fare fra gli ha hai hanno ho
        il in io la le lei li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle nello no noi non
        nostra nostre nostri nostro ogni per perché però più poco poi quale quando quanto quella quelle quelli quello
        questa queste questi questo qui se sei sempre senza si sia siamo sono sta stata state stati stato su sua sue
        sugli sui sul sulla sulle sullo suo suoi tra tu tua tue tuo tuoi tutti tutto un una uno vi voi vostra vostro
    """,
    "portuguese": """
        ao aos aquela aquele aquilo as até com como da das de dela dele deles depois do dos ela elas ele eles em entre
        era eram essa esse esta estas este estes eu foi foram há isso isto já lhe mais mas me mesmo meu meus minha muito
        na nas nem no nos nossa nosso não nós os ou para pela pelas pelo pelos por porque quando que quem se sem ser
        seu seus só sua suas são também te tem ter teu tinha tu tua um uma você vocês vos à às é
    """,
    "spanish": """
        al algo algunas algunos ante antes aquel así aun aunque cada como con contra cual cuando de del desde donde
        durante el ella ellas ellos en entre era eran es esa esas ese eso esos esta estaba estado estar estas este esto
        estos está están fue fueron ha haber había han has hasta hay he hemos la las le les lo los me mi mis mucho
        muchos muy más mí nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque
        que quien quienes qué se sea ser si sido sin sobre son soy su sus suyo sí también tan tanto te tengo tiene
        tienen toda todas todo todos tu tus tú un una unas uno unos usted ustedes vosotros y ya yo él
    """,
}
